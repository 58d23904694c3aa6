package process

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

func init() {
	bodies["timers"] = func(_ context.Context, p *Program) error {
		p.Ready()
		var slacks []time.Duration
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 4 { // threads of their own
			wg.Go(func() {
				runtime.LockOSThread()
				mu.Lock()
				slacks = append(slacks, slack())
				mu.Unlock()
			})
		}
		wg.Wait()
		slices.Sort(slacks)
		p.Log.Info("timers", "least", slacks[0].String(), "pid", os.Getpid())
		return nil
	}
}

// All threads of a program may be woken later; what somebody chose stays.
func TestThreadsMayBeWokenLate(t *testing.T) {
	harness.Raceless(t)
	if _, _, err := syscall.AllThreadsSyscall(syscall.SYS_GETPID, 0, 0, 0); err == syscall.ENOTSUP {
		t.Skip("a program with cgo cannot set all its threads: CGO_ENABLED=0")
	}
	for _, c := range []struct{ before, want time.Duration }{{usualSlack, timerSlack},
		{time.Millisecond, time.Millisecond}} {
		p := func() *child { // a process inherits from the thread that starts it
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			was := slack()
			if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(c.before), 0, 0, 0); err != nil {
				t.Skipf("timers cannot be set here: %v", err)
			}
			defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(was), 0, 0, 0) }()
			return start(t, "timers")
		}()
		line := p.until("timers")
		if got := line["least"]; got != c.want.String() {
			t.Errorf("threads of a program begun with %v may be %v late, want %v", c.before, got, c.want)
		}
		if pid := int(line["pid"].(float64)); pid != p.cmd.Process.Pid {
			t.Errorf("process %d became %d", p.cmd.Process.Pid, pid)
		}
		if status, log := p.ended(); status != exitOK {
			t.Errorf("exit status %d, last line %v", status, last(log))
		}
	}
}
