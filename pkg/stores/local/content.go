package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// logName and warcName are the other results in a crawl's directory.
const (
	logName  = "crawl.log"
	warcName = "warc"
)

// content returns the results that a directory holds: files that are not empty.
func content(dir string) (found []string, err error) {
	for _, name := range append(pagesNames, logName) {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.IsDir() || info.Size() > 0:
			found = append(found, name)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, warcName))
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if len(entries) > 0 {
		found = append(found, warcName+string(filepath.Separator))
	}
	return found, err
}

// fileOnTheWay returns the part of a directory's path that is a file, or a symbolic link to nothing, if there is one.
func fileOnTheWay(dir string) (name string, ok bool) {
	for name = filepath.Clean(dir); ; name = filepath.Dir(name) {
		if info, err := os.Stat(name); err == nil {
			return name, !info.IsDir()
		}
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 { // it leads nowhere
			return name, true
		}
		if name == filepath.Dir(name) {
			return "", false
		}
	}
}

// checkState refuses a directory whose state is of another version or another program, or is missing although there are
// results: the results would be lost, or mixed with others. fresh says that nothing was ever stored.
func checkState(dir string) (fresh bool, err error) {
	if name, ok := fileOnTheWay(dir); ok {
		return false, fmt.Errorf("%s is a file, and no directory: name another place with -o, or move the file away", name)
	}
	results, err := content(dir)
	if err != nil {
		return false, fmt.Errorf("look into crawl directory %s: %w", dir, err)
	}
	strangers, err := strangersIn(filepath.Join(dir, "state"), isStateName)
	if err != nil {
		return false, fmt.Errorf("look into crawl directory %s: %w", dir, err)
	}
	have, err := formatOf(dir)
	if err != nil {
		return false, err
	}
	_, err = os.Stat(filepath.Join(dir, "state", "db"))
	known, missing := have != "", errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return false, fmt.Errorf("look into crawl directory %s: %w", dir, err)
	case !known && (len(strangers) > 0 || !missing):
		return false, fmt.Errorf("%s is no state of whirlpool's (there is no %s in it): choose another directory with -o",
			filepath.Join(dir, "state"), formatName)
	case (!known || missing) && len(results) > 0:
		return false, fmt.Errorf("%s holds %s, and no state of the crawl that wrote it: put %s back, move the files away, "+
			"choose another directory with -o, or discard them with --fresh", dir, strings.Join(results, ", "),
			filepath.Join(dir, "state"))
	}
	return len(results) == 0, nil
}

// strangersIn returns what is in a directory and has no name of ours.
func strangersIn(dir string, ours func(name string) bool) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !ours(e.Name()) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, err
}

// isStateName reports whether a file under state/ is one that whirlpool makes.
func isStateName(name string) bool {
	switch name {
	case lockName, formatName, formatName + ".tmp", "db", "spool", tailName, "control.sock", "control.path",
		"control.addr":
		return true
	}
	return strings.HasPrefix(name, "audit-")
}

// isArchiveName reports whether a file under warc/ is one that whirlpool makes.
func isArchiveName(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".open"), ".damaged")
	return strings.HasSuffix(name, ".warc.gz") || strings.HasSuffix(name, ".warc")
}

// isDBName reports whether a file under state/db/ is one that Pebble makes.
func isDBName(name string) bool {
	for _, start := range []string{"CURRENT", "LOCK", "MANIFEST-", "OPTIONS-", "REMOTE-OBJ-CATALOG-", "marker.",
		"temporary."} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	number, kind, _ := strings.Cut(name, ".")
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil && (kind == "sst" || kind == "blob" || kind == "dbtmp" || strings.HasSuffix(kind, "log"))
}

// isBodyName reports whether a file under state/spool/ is a body.
func isBodyName(name string) bool {
	return strings.HasPrefix(name, "f") && !strings.Contains(name, ".")
}
