package nodes_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// names are the seven programs of a node.
var names = []string{"frontier", "fetcher", "parser", "contentseen", "urlfilter", "hostsplitter", "due"}

// program is one of a node's programs, through all its lives. Its log goes to a file.
type program struct {
	name string
	node int // in whose network it runs
	exe  string
	args []string
	env  []string
	log  string

	cmd   *exec.Cmd
	ended chan struct{} // closed at the end of the present life
	err   error         // of the last life
}

// start begins a life.
func (p *program) start(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	check(t, err)
	defer f.Close() // the process has its own
	p.cmd, p.ended = in(p.node, p.exe, p.args...), make(chan struct{})
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.env, filepath.Dir(p.log), f, f
	check(t, p.cmd.Start())
	go func(cmd *exec.Cmd, ended chan struct{}) {
		p.err = cmd.Wait()
		close(ended)
	}(p.cmd, p.ended)
}

// kill ends the program by SIGKILL. One that had ended by itself is a fault: nothing that happens to it is a reason to.
func (p *program) kill(t *testing.T) {
	t.Helper()
	if p.dead() {
		t.Errorf("%s ended by itself: %v\n%s", p.name, p.err, p.tail())
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-p.ended
}

// stopTime is how long a program has to stop.
const stopTime = 30 * time.Second

// stop asks the program to stop, which it must do in time and with status 0.
func (p *program) stop(t *testing.T) {
	t.Helper()
	if p.dead() {
		t.Errorf("%s ended by itself: %v\n%s", p.name, p.err, p.tail())
		return
	}
	check(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
		if p.err != nil {
			t.Errorf("%s did not stop well: %v\n%s", p.name, p.err, p.tail())
		}
	case <-time.After(stopTime + 5*time.Second):
		t.Errorf("%s did not stop within %v\n%s", p.name, stopTime, p.tail())
		p.cleanUp()
	}
}

// dead reports whether the program has ended.
func (p *program) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// cleanUp ends the program whatever it does.
func (p *program) cleanUp() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// tail is the end of the log, as much as a person reads.
func (p *program) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-12):], []byte("\n")))
}

// alarms are the lines of the log with the level ERROR, by message, with their number: what a person is asked to look at.
func (p *program) alarms() map[string]int {
	f, err := os.Open(p.log)
	if err != nil {
		return nil
	}
	defer f.Close()
	found := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Level, Msg, Error, Reason string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Level == "ERROR" {
			found[fmt.Sprintf("%s: %s: %.300s", p.name, line.Msg, line.Error+line.Reason)]++
		}
	}
	return found
}
