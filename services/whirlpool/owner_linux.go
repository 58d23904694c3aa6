package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// becomeOwnerOf names a directory. If the program starts as root, it changes to the directory's owner: in a container
// the directory is mounted from the host, and docker-compose.yml cannot know its owner.
const becomeOwnerOf = "BECOME_OWNER_OF"

// becomeOwner gives up root for good. Where the directory is root's own, it gives up what root may do beyond that.
func becomeOwner() error {
	dir := os.Getenv(becomeOwnerOf)
	if dir == "" || os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", becomeOwnerOf, err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: %s has no owner", becomeOwnerOf, dir)
	}
	if owner.Uid == 0 {
		return dropCapabilities()
	}
	for _, step := range []func() error{
		func() error { return syscall.Setgroups([]int{int(owner.Gid)}) },
		func() error { return syscall.Setgid(int(owner.Gid)) },
		func() error { return syscall.Setuid(int(owner.Uid)) }, // with it all capabilities go
	} {
		if err := step(); err != nil {
			return fmt.Errorf("%s: become user %d, group %d: %w: give the container the capabilities SETUID and SETGID",
				becomeOwnerOf, owner.Uid, owner.Gid, err)
		}
	}
	return nil
}

// dropCapabilities drops those of all threads.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)),
		uintptr(unsafe.Pointer(&none[0])), 0) // #nosec G103
	if errno != 0 {
		return fmt.Errorf("%s: drop capabilities: %w", becomeOwnerOf, errno)
	}
	return nil
}
