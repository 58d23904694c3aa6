package main

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of those that its children leave behind, as a browser does its own when
// it is killed: else nobody learns what these used of the processor.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting orphans: %w", err)
	}
	return nil
}

// ofOrphans waits until all children have ended, and returns what they and theirs used of the processor. It must not be
// called while a command runs that somebody else waits for.
func ofOrphans() (used time.Duration) {
	for {
		var usage syscall.Rusage
		_, err := syscall.Wait4(-1, nil, 0, &usage)
		switch err { //nolint:errorlint // an Errno, of the system itself
		case nil:
			used += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		case syscall.EINTR:
		default: // ECHILD: there are none
			return used
		}
	}
}
