//go:build unix

package system

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DiskOf returns what the disk of a directory has.
func DiskOf(dir string) (Disk, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Disk{}, err
	}
	block := int64(st.Bsize) //nolint:unconvert // these are of other types elsewhere
	all, free := int64(st.Blocks)*block, int64(st.Bfree)*block
	return Disk{All: all, Used: all - free, Free: int64(st.Bavail) * block}, nil //nolint:gosec,unconvert // as above
}

// ProcessorTime is what the process has used of the processors.
func ProcessorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// PeakMemory is the most memory that a process had which has ended, in bytes; 0: it is not known.
func PeakMemory(ended *os.ProcessState) int64 {
	u, ok := ended.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return u.Maxrss
	}
	return u.Maxrss << 10
}

// OpenFiles raises the number of files that this process may open as far as the system lets it, and returns it; 0: it
// is not known.
func OpenFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	if limit.Cur < limit.Max {
		raised := limit
		raised.Cur = limit.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	return int(min(uint64(limit.Cur), 1<<30)) //nolint:unconvert // it is signed on FreeBSD
}

// Lock takes f for this process until f is closed. It fails at once when another has it.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// Unlockable tells an error of locking a file that says nothing of others: the file cannot be made or opened, or its
// file system has no locks.
func Unlockable(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) || errors.Is(err, syscall.ENOLCK)
}

// SyncDir makes what was made, renamed or removed in a directory last when the power fails.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

// SyncRoot is SyncDir of a root's directory.
func SyncRoot(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return syncAndClose(d)
}

func syncAndClose(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // some file systems cannot sync a directory
	}
	return errors.Join(err, dir.Close())
}

// Writable says why nothing can be made in a directory.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Terminate asks a process to end in order.
func Terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// OpenFile is os.OpenFile. The file may be renamed and removed while it is open.
func OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
