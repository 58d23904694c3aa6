package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// StopSignals delivers the signals that stop a program in order: SIGINT, SIGTERM, and SIGHUP (the terminal was closed)
// unless the parent process had it ignored (nohup). A second signal means hurry, except SIGHUP, which a closing
// terminal may send several times.
func StopSignals() (c <-chan os.Signal, stop func()) {
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	in, out, done := make(chan os.Signal, 8), make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(in, wanted...)
	go passOn(in, out, done)
	return out, sync.OnceFunc(func() { signal.Stop(in); close(done) })
}

// passOn passes signals on until done is closed. More than two say nothing new.
func passOn(in <-chan os.Signal, out chan<- os.Signal, done <-chan struct{}) {
	for first := true; ; {
		select {
		case <-done:
			return
		case s := <-in:
			if s == syscall.SIGHUP && !first {
				continue
			}
			first = false
			select {
			case out <- s:
			default:
			}
		}
	}
}
