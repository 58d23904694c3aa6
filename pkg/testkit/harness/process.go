// Package harness builds, starts, kills and stops programs under test, each a process of its own, and reads their
// output. It is for end-to-end tests only.
package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Names are the programs of a node.
var Names = crawl.StageNames()

// Build builds whirlpool, the api and the programs of a node into a directory, from the directory of all services. They
// are built without the race detector whatever the tests are: it would hide the races between a kill and the services,
// and the packages' own tests run with it.
func Build(dir, services string) error {
	args := []string{"build", "-o", dir + "/"}
	for _, name := range append([]string{"whirlpool", "api"}, Names...) {
		args = append(args, filepath.Join(services, name))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if built := os.Getenv(Programs); built != "" {
		for _, name := range append([]string{"whirlpool", "api"}, Names...) {
			if err := link(filepath.Join(dir, name), filepath.Join(built, name)); err != nil {
				return err
			}
		}
		return nil
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// Programs is the variable that names a directory with the programs of today's code, where somebody has built them for
// all packages. It is set by `make test` alone: whoever runs one package wants what he has just written.
const Programs = "WHIRLPOOL_TEST_PROGRAMS"

// BuildOne builds the program of a directory of main into a file, or takes it from [Programs].
func BuildOne(file, directory string) error {
	if built := os.Getenv(Programs); built != "" {
		abs, err := filepath.Abs(directory)
		if err != nil {
			return err
		}
		return link(file, filepath.Join(built, filepath.Base(abs)))
	}
	if out, err := exec.Command("go", "build", "-o", file, directory).CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// link makes a file that is a program built before: a hard link, or a copy on another file system. A test that removes
// it harms nobody.
func link(file, built string) error {
	if err := os.Link(built, file); err == nil {
		return nil
	}
	data, err := os.ReadFile(built)
	if err != nil {
		return fmt.Errorf("%s names a directory without the program: %w", Programs, err)
	}
	return os.WriteFile(file, data, 0o755) //nolint:gosec // a program
}

// Process is a program, through all its lives. It belongs to one goroutine.
type Process struct {
	Name string
	Exe  string
	Args []string
	Env  []string // of the lives that begin from now on
	Log  string   // file that all lives write to; they run in its directory
	// Command makes the command of a process, which may run in another namespace; nil: exec.Command. The process must
	// end up as the program itself, not as a wrapper.
	Command func(exe string, args ...string) *exec.Cmd

	// Deaths are when the program was found dead after it was killed.
	Deaths []time.Time

	cmd   *exec.Cmd
	from  int64         // where the log of the present life begins
	ended chan struct{} // closed at the end of the present life
	err   error         // of the last life
}

// Start begins a life.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Check(t, err)
	defer f.Close() // the process has its own
	info, err := f.Stat()
	Check(t, err)
	p.from = info.Size()
	command := p.Command
	if command == nil {
		command = exec.Command
	}
	p.cmd, p.ended = command(p.Exe, p.Args...), make(chan struct{})
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.Env, filepath.Dir(p.Log), f, f
	Check(t, p.cmd.Start())
	go func(cmd *exec.Cmd, ended chan struct{}) {
		p.err = cmd.Wait()
		close(ended)
	}(p.cmd, p.ended)
}

// Kill ends the program by SIGKILL. One that had ended by itself is a fault: nothing that happens to it is a reason to.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if p.Dead() {
		t.Errorf("%s ended by itself: %s", p.Name, p.LastWords())
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-p.ended
	p.Deaths = append(p.Deaths, time.Now())
}

// AwaitLog waits until the present life has written text to its log.
func (p *Process) AwaitLog(t testing.TB, text string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		data, err := os.ReadFile(p.Log)
		Check(t, err)
		if bytes.Contains(data[min(p.from, int64(len(data))):], []byte(text)) {
			return
		}
		if p.Dead() || time.Now().After(end) {
			t.Fatalf("%s did not write %q to its log: %s", p.Name, text, p.LastWords())
		}
	}
}

// stopTime is how long a program has to stop.
const stopTime = 30 * time.Second

// Stop asks the program to stop, which it must do in time and with status 0.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if p.Dead() {
		t.Errorf("%s ended by itself: %s", p.Name, p.LastWords())
		return
	}
	Check(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
		if p.err != nil {
			t.Errorf("%s did not stop well: %s", p.Name, p.LastWords())
		}
	case <-time.After(stopTime + 5*time.Second):
		t.Errorf("%s did not stop within %v\n%s", p.Name, stopTime, p.Tail())
		p.CleanUp()
	}
}

// Dead reports whether the program has ended.
func (p *Process) Dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// LastWords are how a program that is dead ended, and the end of its log.
func (p *Process) LastWords() string { return fmt.Sprintf("%v\n%s", p.err, p.Tail()) }

// CleanUp ends the program whatever it does.
func (p *Process) CleanUp() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.Deaths = append(p.Deaths, time.Now())
	}
}

// Memory is what the program holds now, in octets; 0 where the system does not tell.
func (p *Process) Memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// Tail is the end of the log, as much as a person reads.
func (p *Process) Tail() string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-12):], []byte("\n")))
}

// Said reports whether the log holds a line with each of the texts.
func (p *Process) Said(texts ...string) bool {
	return slices.ContainsFunc(p.Lines(), func(line string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) })
	})
}

// Lines are those of the log.
func (p *Process) Lines() []string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// Alarms returns the log lines of level ERROR, which ask for a person's attention: message and count.
func (p *Process) Alarms() map[string]int {
	f, err := os.Open(p.Log)
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
			found[fmt.Sprintf("%s: %s: %.300s", p.Name, line.Msg, line.Error+line.Reason)]++
		}
	}
	return found
}
