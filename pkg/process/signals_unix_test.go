//go:build unix

package process

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func TestHangupReachesTheProgram(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // it is ignored where the tests run under nohup
	c, stop := StopSignals()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if s := <-c; s != syscall.SIGHUP {
		t.Errorf("got %v", s)
	}
}
