//go:build unix

package harness

import (
	"syscall"
	"testing"
)

// Freeze keeps the program from doing anything until Thaw.
func (p *Process) Freeze(t testing.TB) {
	t.Helper()
	Check(t, p.cmd.Process.Signal(syscall.SIGSTOP))
}

// Thaw lets a frozen program go on.
func (p *Process) Thaw(t testing.TB) {
	t.Helper()
	Check(t, p.cmd.Process.Signal(syscall.SIGCONT))
}
