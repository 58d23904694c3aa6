package servicetest

import "syscall"

// ownSession keeps Ctrl-C to our process from another.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
