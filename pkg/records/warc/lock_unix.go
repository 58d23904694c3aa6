//go:build unix

package warc

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes f for this process until f is closed. It fails at once when another has it.
func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
