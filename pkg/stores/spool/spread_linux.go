package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDir is FS_TOPDIR_FL of linux/fs.h (chattr +T): directories made in this one have nothing to do with each other.
const topDir = 0x00020000

// spread asks the file system to place the directories made in dir, and so their files, in different parts of the disk.
// Otherwise ext4 places all near dir, where it skips every inode that any program deleted in the last minutes before it
// finds a free one: measured 430 µs of CPU for each file instead of 28, after some thousand files were deleted beside
// it. File systems without this feature refuse, which is fine.
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
