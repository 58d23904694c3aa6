//go:build unix

package servicetest

import "syscall"

// ownSession keeps signals to our process from another.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
