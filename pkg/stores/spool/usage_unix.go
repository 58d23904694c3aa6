//go:build linux || darwin || freebsd

package spool

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// countsLinks says that onlyName can tell.
const countsLinks = true

// onlyName reports whether a file has no other name.
func onlyName(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 1
}

func usage(dir string) (Usage, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Usage{}, err
	}
	block := int64(st.Bsize) //nolint:unconvert // other systems have other types
	u := Usage{UsedBytes: int64(st.Blocks-st.Bfree) * block, FreeBytes: int64(st.Bavail) * block}
	if all := u.UsedBytes + u.FreeBytes; all > 0 {
		u.Fraction = float64(u.UsedBytes) / float64(all)
	}
	return u, nil
}
