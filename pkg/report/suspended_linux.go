package report

import (
	"bytes"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// suspended returns an error where the process that listens at the other end was stopped, as Ctrl-Z does: the kernel
// takes connections for it, and it answers none.
func suspended(conn net.Conn) error {
	pid := listener(conn)
	if pid <= 0 || processState(pid) != "T" {
		return nil
	}
	return fmt.Errorf("its process (%d) is suspended, as by Ctrl-Z: `fg` in its terminal or `kill -CONT %d` resumes it",
		pid, pid)
}

// listener is the process at the other end of a local connection; 0 where it is not seen from here, as from within a
// container.
func listener(conn net.Conn) (pid int32) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = peer.Pid
		}
	})
	return pid
}

// processState is the letter by which Linux tells what a process does; empty where it cannot be read.
func processState(pid int32) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// PID (NAME) STATE …, where the name may hold anything
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) == 0 {
		return ""
	}
	return string(fields[0])
}
