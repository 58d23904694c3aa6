package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// lockName is the file under state/ that an open directory holds locked.
const lockName = "lock"

// Discard removes what a crawl left in dir, and nothing else. It refuses while a process has the directory open: that one
// would go on writing into files that are gone. The lock file stays, so that no two processes can ever lock different ones.
func Discard(dir string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("discard the crawl in %s: %w", dir, err)
		}
	}()
	parts, err := os.ReadDir(filepath.Join(dir, "state"))
	switch {
	case err == nil:
		lock, err := lockDir(dir)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	doomed := []string{"pages.jsonl", "crawl.log", "warc"}
	for _, p := range parts {
		if p.Name() != lockName {
			doomed = append(doomed, filepath.Join("state", p.Name()))
		}
	}
	for _, name := range doomed {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
