// Command child is a plug-in that does what pages' titles say.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		var size uint32
		if binary.Read(in, binary.LittleEndian, &size) != nil {
			return
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		head := binary.LittleEndian.Uint32(frame)
		var h struct {
			Do      string
			With    struct{ Bad, Silent bool }
			Message struct{ Title string }
			ID      string
		}
		_ = json.Unmarshal(frame[4:4+head], &h)
		switch {
		case h.Do == "configure" && h.With.Bad:
			say(`{"error":{"path":"bad","text":"must not be true"}}`)
		case h.Do == "configure" && h.With.Silent:
			time.Sleep(time.Hour)
		case h.Do == "configure":
			say(`{}`)
		default:
			act(h.Message.Title, h.ID, frame[4+head:])
		}
	}
}

func say(text string) {
	_, _ = os.Stdout.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...))
}

func act(title, id string, body []byte) {
	switch title {
	case "loop":
		for {
		}
	case "exit":
		fmt.Fprintln(os.Stderr, "the model is broken")
		os.Exit(3)
	case "twice":
		say(`{"action":"patch","patch":{"fields":{"of":"twice"}},"id":"` + id + `"}`)
		say(`{"action":"patch","patch":{"fields":{"of":"nobody"}},"id":"` + id + `"}`)
	case "late", "late, with its id", "slow":
		late(title, id)
	case "garbage":
		fmt.Print("hello, I am here")
	case "half":
		_, _ = os.Stdout.Write([]byte{100, 0, 0, 0, '{'})
		os.Exit(0)
	case "types":
		say(`{"action":"patch","patch":{"title":7}}`)
	case "hoard":
		var all [][]byte
		for {
			all = append(all, make([]byte, 64<<20))
			for i := range all[len(all)-1] {
				all[len(all)-1][i] = 1
			}
		}
	case "orphan":
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Start()
		fmt.Fprintln(os.Stderr, "child", cmd.Process.Pid)
		os.Exit(3)
	case "child":
		cmd := exec.Command("sleep", "1000")
		_ = cmd.Start()
		fmt.Fprintln(os.Stderr, "child", cmd.Process.Pid)
		time.Sleep(time.Hour)
	default:
		say(fmt.Sprintf(`{"action":"patch","patch":{"fields":{"pid":%d,"body":%d,"env":%d}}}`, os.Getpid(), len(body),
			len(os.Environ())))
	}
}

// late answers when it should not.
func late(title, id string) {
	switch title {
	case "late": // the second one comes after the next call was sent, and before that is read
		say(`{"action":"pass"}`)
		time.Sleep(200 * time.Millisecond)
		say(`{"action":"patch","patch":{"fields":{"of":"late"}}}`)
		time.Sleep(time.Second)
	case "late, with its id":
		say(`{"action":"pass","id":"` + id + `"}`)
		go func() { // while the next call is read
			time.Sleep(200 * time.Millisecond)
			say(`{"action":"patch","patch":{"fields":{"of":"late"}},"id":"` + id + `"}`)
		}()
	case "slow":
		time.Sleep(2 * time.Second)
		say(`{"action":"pass","id":"` + id + `"}`)
	}
}
