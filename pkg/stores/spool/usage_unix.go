//go:build linux || darwin || freebsd

package spool

import "golang.org/x/sys/unix"

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
