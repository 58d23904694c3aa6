//go:build unix

package system

import "syscall"

var (
	full      = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	readOnly  = []syscall.Errno{syscall.EROFS, syscall.EACCES}
	noFiles   = []syscall.Errno{syscall.EMFILE, syscall.ENFILE}
	reset     = []syscall.Errno{syscall.ECONNRESET}
	unread    = []syscall.Errno{syscall.EPIPE}
	taken     = []syscall.Errno{syscall.EADDRINUSE}
	noAddress = []syscall.Errno{syscall.EADDRNOTAVAIL}
	noProgram = []syscall.Errno{syscall.ENOEXEC}
)
