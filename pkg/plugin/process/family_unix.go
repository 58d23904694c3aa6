//go:build unix

package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// kill ends the child's process group.
func (f family) kill() { _ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) }

// readable reports whether there is something to read in a pipe.
func readable(fd uintptr) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
}
