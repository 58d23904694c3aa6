package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ran is what a command left that was waited for.
type ran struct {
	stdout, stderr string
	exit           int
	took           time.Duration
	peak           int64 // bytes of memory, 0: not known
}

// runPatience bounds a command that does not crawl for long.
const runPatience = 10 * time.Minute

// run runs the program in an empty directory without standard input.
func run(t *testing.T, args ...string) ran {
	t.Helper()
	return runWith(t, "", args...)
}

// runWith runs the program with a standard input.
func runWith(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	r := runTo(t, &stdout, &stderr, stdin, args...)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

func runTo(t *testing.T, stdout, stderr io.Writer, stdin string, args ...string) ran {
	t.Helper()
	p := &life{cmd: exec.Command(program, args...), ended: make(chan struct{}), began: time.Now()}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = t.TempDir(), strings.NewReader(stdin), stdout, stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(runPatience, func() { _ = p.cmd.Process.Kill() })
	defer stop.Stop()
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	peak := peakMemory(p)
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) || p.cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("whirlpool %s: %v", strings.Join(args, " "), p.err)
	}
	return ran{exit: p.cmd.ProcessState.ExitCode(), took: time.Since(p.began), peak: peak}
}
