package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory that cannot be one is named by the part that is in its way.
func TestFilesInTheWayOfADirectory(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	writeFile(t, file, "x")
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), link))
	for place, named := range map[string]string{file: file, filepath.Join(file, "a", "b"): file, link: link,
		filepath.Join(link, "a"): link} {
		s, err := Open(place, Default())
		if err == nil {
			closeStore(t, s)
		}
		if err == nil || !strings.HasPrefix(err.Error(), named+" is a file, and no directory") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// A lock that cannot be made is nobody's.
func TestALockThatCannotBeMade(t *testing.T) {
	dir := crawled(t, 1)
	lock := filepath.Join(dir, "state", lockName)
	must(t, os.Remove(lock))
	must(t, os.Mkdir(lock, 0o755))
	s, err := Open(dir, Default())
	if err == nil {
		closeStore(t, s)
	}
	if err == nil || errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "cannot be locked") {
		t.Errorf("opened: %v", err)
	}
}
