package main

import "golang.org/x/sys/unix"

// diskOf is what is free, and what there is, where a directory is; 0: it cannot be told.
func diskOf(dir string) (free, all int64) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize) //nolint:unconvert // of other types elsewhere
}
