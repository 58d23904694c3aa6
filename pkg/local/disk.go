package local

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// DiskUsed returns how full the disk of the crawl directory is, from 0 to 1, as an ordinary user sees it.
func (s *Store) DiskUsed() (fraction float64, err error) {
	u, err := vfs.Default.GetDiskUsage(s.dir)
	if err != nil {
		return 0, fmt.Errorf("disk usage of %s: %w", s.dir, err)
	}
	if u.UsedBytes+u.AvailBytes == 0 {
		return 0, nil
	}
	return float64(u.UsedBytes) / float64(u.UsedBytes+u.AvailBytes), nil
}
