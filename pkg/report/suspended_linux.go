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
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var peer *unix.Ucred
	err = raw.Control(func(fd uintptr) {
		peer, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || peer == nil || peer.Pid <= 0 { // 0: it is not seen from here, as from within a container
		return nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", peer.Pid))
	if err != nil {
		return nil
	}
	// PID (NAME) STATE …, where the name may hold anything
	if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) == 0 || string(fields[0]) != "T" {
		return nil
	}
	return fmt.Errorf("its process (%d) is suspended, as by Ctrl-Z: `fg` in its terminal or `kill -CONT %d` lets it go on",
		peer.Pid, peer.Pid)
}
