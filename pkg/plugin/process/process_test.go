//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/process"
)

// child is the program of testdata, built once and without the race detector, which takes terabytes of address space.
var child = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "whirlpool-process-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "child")
	if out, err := exec.Command("go", "build", "-o", file, "./testdata/child").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := child(); err == nil {
		_ = os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

func load(t *testing.T, with map[string]any) (plugin.Instance, error) {
	t.Helper()
	exe, err := child()
	if err != nil {
		t.Fatal(err)
	}
	d := &plugin.Descriptor{Name: "x/y", Version: "1.0.0", Tier: plugin.Process, Entry: filepath.Base(exe),
		Serves: []plugin.Serves{{Point: crawl.AtDocument, Needs: []string{plugin.NeedsBody}}}}
	p, err := process.Load(d, filepath.Dir(exe), nil)
	if err != nil {
		t.Fatal(err)
	}
	i, err := p.Configure(t.Context(), crawl.AtDocument, with)
	if err == nil {
		t.Cleanup(func() { _ = i.Close() })
	}
	return i, err
}

func ask(i plugin.Instance, title string, limit time.Duration) (*plugin.Answer, error) {
	return askWithin(i, title, limit, 0)
}

// askWithin is ask with a limit of CPU time as well.
func askWithin(i plugin.Instance, title string, limit, cpu time.Duration) (*plugin.Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return i.Handle(ctx, &plugin.Call{CPU: cpu, ID: "call of " + title, Message: &plugin.Document{Title: title},
		Body: func() []byte { return []byte("body") }})
}

// answer asks until the program may be started again.
func answer(t *testing.T, i plugin.Instance) map[string]any {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		a, err := ask(i, "fine", time.Minute)
		if err == nil {
			return a.Patch.(*plugin.DocumentPatch).Fields
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "started again in") {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestAProgramAnswers(t *testing.T) {
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := answer(t, i)
	if fmt.Sprint(f["body"]) != "4" || fmt.Sprint(f["env"]) != "1" {
		t.Errorf("%v", f)
	}
	if again := answer(t, i); again["pid"] != f["pid"] {
		t.Error("each call starts a program")
	}
}

func TestWhatAProgramMustNotDo(t *testing.T) {
	for title, want := range map[string]error{"loop": plugin.ErrTimeout, "exit": plugin.ErrEnded,
		"garbage": plugin.ErrOutput, "half": plugin.ErrEnded, "types": plugin.ErrAnswer, "hoard": plugin.ErrEnded} {
		t.Run(title, func(t *testing.T) {
			i, err := load(t, nil)
			if err != nil {
				t.Fatal(err)
			}
			limit := time.Minute
			if title == "loop" {
				limit = 100 * time.Millisecond
			}
			if _, err := ask(i, title, limit); !errors.Is(err, want) {
				t.Errorf("%v; want %v", err, want)
			} else if title == "exit" && !strings.Contains(err.Error(), "exit status 3; it wrote: the model is broken") {
				t.Errorf("%v lacks how it ended, and what it wrote", err)
			}
			answer(t, i)
		})
	}
}

// Why a program cannot be started is told: of a script without its interpreter the system says that it is not there.
func TestProgramsThatCannotBeStarted(t *testing.T) {
	for text, want := range map[string]string{
		"#!/no/such/python3 -u\nx\n": "there is no /no/such/python3 -u, which the first line of main names",
		"#!/bin/sh\r\nexit\r\n":      `its interpreter is not called "/bin/sh\r": end them with LF`,
		"exit 0\n":                   "main is no program of this machine, and a script begins with #!",
		"":                           "main is not executable: chmod +x it",
	} {
		dir, mode := t.TempDir(), os.FileMode(0o700)
		if text == "" {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, "main"), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		p, err := process.Load(&plugin.Descriptor{Name: "x/y", Version: "1.0.0", Tier: plugin.Process, Entry: "main",
			Serves: []plugin.Serves{{Point: crawl.AtDocument}}}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Configure(t.Context(), crawl.AtDocument, nil); !errors.Is(err, plugin.ErrStart) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A page that ends the program costs no other page anything, and an answer too many is not taken for the next page's.
func TestOnePagesFaultIsNoOthers(t *testing.T) {
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(i, "exit", time.Minute); !errors.Is(err, plugin.ErrEnded) {
		t.Fatal(err)
	}
	if _, err := ask(i, "fine", time.Minute); err != nil {
		t.Errorf("the page after one that ended the program: %v", err)
	}
	if _, err := ask(i, "twice", time.Minute); err != nil {
		t.Fatal(err)
	}
	if a, err := ask(i, "fine", time.Minute); !errors.Is(err, plugin.ErrOrder) {
		t.Errorf("the page after one with two answers has %+v, %v", a, err)
	}
	if a, err := ask(i, "fine", time.Minute); err != nil || a.Patch.(*plugin.DocumentPatch).Fields["pid"] == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// An answer too many that comes only when the next call was sent is told from that call's: by the id that it repeats,
// or since nothing of the call was read.
func TestALateAnswerIsNotTheNextCalls(t *testing.T) {
	for title, then := range map[string]string{"late": "fine", "late, with its id": "slow"} {
		t.Run(title, func(t *testing.T) {
			if runtime.GOOS != "linux" && title == "late" {
				t.Skip("only Linux says what of a call was read")
			}
			i, err := load(t, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a, err := ask(i, title, time.Minute); err != nil || a.Action != plugin.Pass {
				t.Fatalf("%+v, %v", a, err)
			}
			if a, err := ask(i, then, time.Minute); !errors.Is(err, plugin.ErrOrder) {
				t.Errorf("the call after it has %+v, %v", a, err)
			}
			answer(t, i)
		})
	}
}

// A program that runs ends at its limit of CPU time; one that waits does not, but at the time by the clock.
func TestTheLimitIsCPUTime(t *testing.T) {
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer(t, i)
	if _, err := askWithin(i, "loop", time.Hour, 100*time.Millisecond); !errors.Is(err, plugin.ErrTimeout) ||
		!strings.Contains(err.Error(), "100ms of CPU time") {
		t.Error(err)
	}
	answer(t, i)
	start := time.Now()
	const clock = 400 * time.Millisecond
	if _, err := askWithin(i, "child", clock, 50*time.Millisecond); !errors.Is(err, plugin.ErrTimeout) ||
		time.Since(start) < clock {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// What a program started ends with it, also where it ends by itself; the call waits for neither.
func TestAProgramThatEndsLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has what it takes")
	}
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(i, "orphan", time.Minute)
	if !errors.Is(err, plugin.ErrEnded) {
		t.Fatal(err)
	}
	pid := 0
	if _, after, found := strings.Cut(err.Error(), "it wrote: child "); found {
		pid, _ = strconv.Atoi(after)
	}
	deadline := time.Now().Add(time.Minute)
	for pid == 0 || running(pid) {
		if time.Now().After(deadline) || pid == 0 {
			t.Fatalf("process %d is still there after: %v", pid, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// running reports whether a process has not ended, though nobody may have asked what became of it.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// What a program started is killed with it.
func TestNothingIsLeftBehind(t *testing.T) {
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(fmt.Sprint(answer(t, i)["pid"]))
	if !alive(pid) {
		t.Fatalf("there is no process %d: the test proves nothing", pid)
	}
	if _, err := ask(i, "child", 300*time.Millisecond); !errors.Is(err, plugin.ErrTimeout) {
		t.Error(err)
	}
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
	}
	next, _ := strconv.Atoi(fmt.Sprint(answer(t, i)["pid"]))
	if err := i.Close(); err != nil || alive(next) {
		t.Errorf("%v; process %d is there: %v", err, next, alive(next))
	}
}

func TestSettingsThatAProgramRefuses(t *testing.T) {
	_, err := load(t, map[string]any{"bad": true})
	if bad := (*plugin.ConfigError)(nil); !errors.As(err, &bad) || bad.Path != "bad" {
		t.Errorf("%v", err)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	i, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if _, err := ask(i, "fine", time.Minute); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
