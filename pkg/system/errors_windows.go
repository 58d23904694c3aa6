package system

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var (
	full = []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL,
		windows.ERROR_DISK_QUOTA_EXCEEDED}
	readOnly = []syscall.Errno{windows.ERROR_WRITE_PROTECT, windows.ERROR_ACCESS_DENIED}
	noFiles  = []syscall.Errno{windows.ERROR_TOO_MANY_OPEN_FILES, windows.WSAEMFILE}
	// Windows says ABORTED where it gave up a connection itself, after the other side was silent or had reset it.
	reset     = []syscall.Errno{windows.WSAECONNRESET, windows.WSAECONNABORTED}
	unread    = []syscall.Errno{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.WSAESHUTDOWN}
	taken     = []syscall.Errno{windows.WSAEADDRINUSE}
	noAddress = []syscall.Errno{windows.WSAEADDRNOTAVAIL}
	noProgram = []syscall.Errno{windows.ERROR_BAD_EXE_FORMAT}
)
