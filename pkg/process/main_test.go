package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary a program with one of the bodies below.
const childVariable = "WHIRLPOOL_TEST_RUN_BODY"

var bodies = map[string]Body{
	"orderly": func(ctx context.Context, p *Program) error {
		p.Ready()
		<-ctx.Done()
		p.Log.Info("finishing")
		return fmt.Errorf("consume: %w", context.Cause(ctx))
	},
	"stuck": func(ctx context.Context, p *Program) error {
		defer p.Track("the frontier")()
		p.Ready()
		<-ctx.Done()
		p.Log.Info("finishing")
		select {}
	},
	"unclean": func(ctx context.Context, p *Program) error {
		p.Ready()
		<-ctx.Done()
		return errors.Join(ctx.Err(), errors.New("the last page was not stored"))
	},
	"panics": func(context.Context, *Program) error { panic("poison") },
	"fails":  func(context.Context, *Program) error { return errors.New("no such queue") },
	"ends":   func(context.Context, *Program) error { return nil },
}

func TestMain(m *testing.M) {
	if body := bodies[os.Getenv(childVariable)]; body != nil {
		Main("child", body)
	}
	goleak.VerifyTestMain(m)
}

// child is a program in a process of its own.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan map[string]any // its log
	rest  bytes.Buffer        // lines that are no log
}

// start starts the program; addresses are chosen by the system.
func start(t *testing.T, body string, environ ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0]), lines: make(chan map[string]any, 1000)}
	c.cmd.Env = append(append(os.Environ(), childVariable+"="+body, "WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0",
		"WHIRLPOOL_NODE=n1", "WHIRLPOOL_PPROF_LISTEN=127.0.0.1:0"), environ...)
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read(stderr)
	return c
}

func (c *child) read(stderr io.Reader) {
	defer close(c.lines)
	for s := bufio.NewReader(stderr); ; {
		line, err := s.ReadBytes('\n')
		if err != nil {
			return
		}
		entry := map[string]any{}
		if json.Unmarshal(line, &entry) != nil {
			c.rest.Write(line)
			continue
		}
		c.lines <- entry
	}
}

// until waits for a line of the log.
func (c *child) until(message string) map[string]any {
	c.t.Helper()
	for entry := range c.lines {
		if entry["msg"] == message {
			return entry
		}
	}
	c.t.Fatalf("the child ended without %q; it wrote %s", message, c.rest.String())
	return nil
}

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// ended waits for the child and returns its exit status and the rest of its log.
func (c *child) ended() (status int, log []map[string]any) {
	for entry := range c.lines {
		log = append(log, entry)
	}
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode(), log
}

func last(log []map[string]any) string {
	if len(log) == 0 {
		return ""
	}
	return fmt.Sprint(log[len(log)-1])
}

func TestFirstSignalStopsInOrder(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		c := start(t, "orderly")
		c.until("ready")
		c.signal(s)
		c.until("finishing")
		if status, log := c.ended(); status != exitOK || !strings.Contains(last(log), "stopped") {
			t.Errorf("%v: exit status %d, last line %v", s, status, last(log))
		}
	}
}

func TestSecondSignalStopsAtOnce(t *testing.T) {
	c := start(t, "stuck")
	c.until("ready")
	c.signal(syscall.SIGTERM)
	c.until("finishing")
	c.signal(syscall.SIGTERM)
	status, log := c.ended()
	if status != exitFailure || !strings.Contains(last(log), "second signal") ||
		!strings.Contains(last(log), "the frontier") {
		t.Errorf("exit status %d, last line %v", status, last(log))
	}
}

func TestAStopThatTakesTooLongSaysWhatStillRuns(t *testing.T) {
	c := start(t, "stuck", "WHIRLPOOL_SHUTDOWN_TIMEOUT=300ms")
	c.until("ready")
	c.signal(syscall.SIGTERM)
	c.until("finishing")
	status, log := c.ended()
	if status != exitFailure || !strings.Contains(last(log), "main, the frontier") ||
		!strings.Contains(last(log), "300ms") {
		t.Errorf("exit status %d, last line %v", status, last(log))
	}
	if text := fmt.Sprint(log); !strings.Contains(text, "main_test.go") {
		t.Errorf("no stacks in %s", text)
	}
}

func TestExitStatusTellsHowTheProgramEnded(t *testing.T) {
	for body, tt := range map[string]struct {
		status  int
		message string // in the last line
	}{
		"ends":   {exitOK, ""},
		"fails":  {exitFailure, "no such queue"},
		"panics": {exitFailure, "poison"},
	} {
		c := start(t, body)
		status, log := c.ended()
		if status != tt.status || !strings.Contains(last(log), tt.message) {
			t.Errorf("%s: exit status %d, last line %v", body, status, last(log))
		}
		if body == "panics" && !strings.Contains(fmt.Sprint(log), "main_test.go") {
			t.Errorf("no stack in %v", log)
		}
	}
}

func TestAStopDoesNotHideAFailure(t *testing.T) {
	c := start(t, "unclean")
	c.until("ready")
	c.signal(syscall.SIGTERM)
	if status, log := c.ended(); status != exitFailure || !strings.Contains(last(log), "not stored") {
		t.Errorf("exit status %d, last line %v", status, last(log))
	}
}

func TestWrongConfigurationIsBadUsage(t *testing.T) {
	c := start(t, "orderly", "WHIRLPOOL_WORKERS_PARSERS=3")
	if status, _ := c.ended(); status != exitUsage || !strings.Contains(c.rest.String(), "WHIRLPOOL_WORKERS_PARSER?") {
		t.Errorf("exit status %d: %s", status, c.rest.String())
	}
}

func TestHealthcheckAsksTheProgram(t *testing.T) {
	c := start(t, "orderly")
	address := fmt.Sprint(c.until("listening")["address"])
	c.until("ready")
	for _, args := range [][]string{{"healthcheck"}, {"healthcheck", "--ready"}} {
		if status, _, stderr := line(args, "WHIRLPOOL_HTTP_LISTEN="+address); status != exitOK {
			t.Errorf("%v: exit status %d: %s", args, status, stderr)
		}
	}
	c.signal(syscall.SIGTERM)
	c.ended()
	if status, _, stderr := line([]string{"healthcheck"}, "WHIRLPOOL_HTTP_LISTEN="+address); status != exitFailure ||
		stderr == "" {
		t.Errorf("after its end: exit status %d, %q", status, stderr)
	}
}

// line runs a command line in this process.
func line(args []string, environ ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = command{name: "fetcher", environ: environ, stdout: &out, stderr: &errs}.run(args, nil)
	return status, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	for name, tt := range map[string]struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		"version":          {[]string{"--version"}, exitOK, "fetcher 0.", ""},
		"help":             {[]string{"--help"}, exitOK, "--ready", ""},
		"help of flags":    {[]string{"-h"}, exitOK, "-print-config", ""},
		"configuration":    {[]string{"--print-config"}, exitOK, "password: xxxxx # WHIRLPOOL_POSTGRES_PASSWORD", ""},
		"from a file":      {[]string{"--config", sample, "--print-config"}, exitOK, "held_tasks: 16384", ""},
		"missing file":     {[]string{"--config", "/no/such"}, exitUsage, "", "/no/such"},
		"unknown flag":     {[]string{"--quick"}, exitUsage, "", "quick"},
		"unknown argument": {[]string{"quick"}, exitUsage, "", `"quick"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := line(tt.args, "WHIRLPOOL_POSTGRES_PASSWORD=hidden")
			if status != tt.status || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
			}
			if strings.Contains(stdout+stderr, "hidden") {
				t.Error("the password is shown")
			}
		})
	}
}
