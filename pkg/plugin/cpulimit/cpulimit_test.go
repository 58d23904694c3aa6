package cpulimit_test

import (
	"errors"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/cpulimit"
)

func TestError(t *testing.T) {
	if err := cpulimit.Error(50 * time.Millisecond); !errors.Is(err, plugin.ErrTimeout) ||
		err.Error() != "it took longer than its limit: 50ms of CPU time" {
		t.Error(err)
	}
}

// What waits takes no CPU time, however long; what runs ends at its limit, and a watch that was stopped says nothing.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used, overs atomic.Int64
		watch := func(limit time.Duration) func() {
			return cpulimit.Watch(limit, func() time.Duration { return time.Duration(used.Load()) }, func() { overs.Add(1) })
		}
		after := func() int64 {
			synctest.Wait()
			return overs.Load()
		}
		used.Store(int64(time.Hour)) // of the calls before
		stop := watch(50 * time.Millisecond)
		time.Sleep(time.Minute)
		if n := after(); n != 0 {
			t.Errorf("a call that waits went over its limit %d times", n)
		}
		used.Add(int64(49 * time.Millisecond))
		time.Sleep(time.Minute)
		if n := after(); n != 0 {
			t.Errorf("a call is over its limit %d times before it", n)
		}
		used.Add(int64(time.Millisecond))
		time.Sleep(50 * time.Millisecond)
		if n := after(); n != 1 {
			t.Errorf("a call at its limit is over it %d times", n)
		}
		used.Add(int64(time.Hour))
		time.Sleep(time.Minute)
		stop()
		stop = watch(time.Second)
		used.Add(int64(time.Hour))
		stop()
		none := watch(0)
		time.Sleep(time.Minute)
		none()
		if n := after(); n != 1 {
			t.Errorf("over is called %d times; want once", n)
		}
	})
}

// The clocks of a thread and of a process go on while they run.
func TestClocks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the CPU time of a thread")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := cpulimit.Thread()
	read := make(chan time.Duration)
	spin := func(clock cpulimit.Clock) {
		t.Helper()
		start, began := clock(), time.Now()
		for time.Since(began) < time.Minute {
			go func() { read <- clock() }() // another thread looks
			if <-read-start > 20*time.Millisecond {
				return
			}
		}
		t.Error("the clock stands still")
	}
	spin(own)
	loop := exec.CommandContext(t.Context(), "/bin/sh", "-c", "while :; do :; done")
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	spin(cpulimit.Process(loop.Process.Pid))
	_ = loop.Process.Kill()
	_ = loop.Wait()
	if used := cpulimit.Process(loop.Process.Pid)(); used != 0 {
		t.Errorf("a process that has ended took %v", used)
	}
	waits := exec.CommandContext(t.Context(), "/bin/sleep", "60")
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	clock := cpulimit.Process(waits.Process.Pid)
	spin(own)
	if used := clock(); used > 15*time.Millisecond {
		t.Errorf("a process that waits took %v", used)
	}
	_ = waits.Process.Kill()
	_ = waits.Wait()
}
