package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// DiskOf returns what the disk of a directory has.
func DiskOf(dir string) (Disk, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return Disk{}, err
	}
	var mine, all, free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &mine, &all, &free); err != nil {
		return Disk{}, err
	}
	return Disk{All: int64(all), Used: int64(all - free), Free: int64(mine)}, nil
}

// ProcessorTime is what the process has used of the processors.
func ProcessorTime() (time.Duration, bool) {
	var begun, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &begun, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	return ticks(kernel) + ticks(user), true
}

// ticks is a time that is counted in units of 100 ns. Filetime.Nanoseconds would take it for a date.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}

// PeakMemory is not known here of a process that has ended.
func PeakMemory(*os.ProcessState) int64 { return 0 }

// OpenFiles is not known: Windows has no such limit but the memory.
func OpenFiles() int { return 0 }

// lockAt is half of the place of the byte of a file that Lock locks. Nobody else can read a locked byte, so it lies
// where no file reaches.
const lockAt = 1<<32 - 1

// Lock takes f for this process until f is closed. It fails at once when another has it.
func Lock(f *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := &windows.Overlapped{Offset: lockAt, OffsetHigh: lockAt >> 1}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
}

// Unlockable tells an error of locking a file that says nothing of others: the file cannot be made or opened.
func Unlockable(err error) bool {
	return !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// SyncDir does nothing: NTFS journals what changes in a directory, in its order, and Go cannot flush a directory there.
func SyncDir(string) error { return nil }

// SyncRoot is SyncDir of a root's directory.
func SyncRoot(*os.Root) error { return nil }

// Writable says why nothing can be made in a directory. Only making something tells, of all that Windows asks first.
func Writable(dir string) error {
	f, err := os.CreateTemp(dir, ".whirlpool-*")
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return path.Err
		}
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Terminate ends a process: Windows cannot ask it to end.
func Terminate(p *os.Process) error { return p.Kill() }

// OpenFile is os.OpenFile, but the file may be renamed and removed while it is open, as it may elsewhere: so may files
// that are opened in an os.Root.
func OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(filepath.Base(name), flag, perm)
	if closed := root.Close(); err == nil && closed != nil {
		return nil, errors.Join(closed, f.Close())
	}
	return f, err
}
