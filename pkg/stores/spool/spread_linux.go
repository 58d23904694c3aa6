package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDir is FS_TOPDIR_FL of linux/fs.h (chattr +T): directories made in this one have nothing to do with each other.
const topDir = 0x00020000

// spread asks the file system to put the directories made in dir, and so their files, into different places of the disk. ext4 would put all near
// dir otherwise, where it passes over every inode that was removed in the last minutes, by whomever, before it takes a free one for a new
// file: measured 430 µs of CPU a file instead of 28 after some thousand files were removed beside it. File systems that know nothing of it
// refuse, and that is all right.
func spread(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|topDir)
}
