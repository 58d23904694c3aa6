//go:build linux || darwin || freebsd

package spool

import (
	"io/fs"
	"syscall"
)

// countsLinks says that onlyName can tell.
const countsLinks = true

// onlyName reports whether a file has no other name.
func onlyName(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 1
}
