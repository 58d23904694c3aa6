package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// lockName is the file under state/ that an open directory holds locked.
const lockName = "lock"

// Discarded is what Discard removed.
type Discarded struct {
	Records int64    // lines of pages.jsonl
	Bytes   int64    // of all files
	Names   []string // what was removed: pages.jsonl, crawl.log, warc/, bodies/, state/
	Kept    []string // files in warc/ and state/ that are not whirlpool's
}

// Discard removes the files of a crawl from dir, and nothing else. It refuses if a process has the directory open,
// because that process would go on writing to deleted files. It also refuses if it finds a file that is not a crawl's.
// The lock file stays, so that two processes can never lock different files.
func Discard(dir string) (out Discarded, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("discard the crawl in %s: %w", dir, err)
		}
	}()
	state, warc := filepath.Join(dir, "state"), filepath.Join(dir, warcName)
	if err := checkOurs(dir); err != nil {
		return out, err
	}
	if _, err := os.Stat(state); err == nil {
		lock, err := lockDir(dir)
		if err != nil {
			return out, err
		}
		defer func() { _ = lock.Close() }()
	}
	if out.Records, err = countLines(filepath.Join(dir, pagesName)); err != nil {
		return out, err
	}
	packed, err := countPacked(filepath.Join(dir, packedName))
	if err != nil {
		return out, err
	}
	out.Records += packed
	for _, name := range append(pagesNames, logName) {
		if err := out.remove(dir, name); err != nil {
			return out, err
		}
	}
	if err := out.empty(warc, isArchiveName); err != nil {
		return out, err
	}
	bodies, outputs := filepath.Join(dir, bodiesName), filepath.Join(dir, outputsName)
	err = errors.Join(out.empty(bodies, isKeptDir), out.emptyOutputs(outputs))
	if err == nil {
		err = out.emptyState(state)
	}
	if err == nil && len(out.Kept) == 0 { // an empty directory belongs to nothing
		for _, empty := range []string{warc, bodies, outputs} {
			_ = os.Remove(empty)
		}
	}
	return out, err
}

// outputsName is the directory of what outputs write, and writtenName a file there that names what they have written.
const (
	outputsName = "outputs"
	writtenName = ".written"
)

// emptyOutputs removes what outputs have written. Whatever else lies there is somebody's.
func (d *Discarded) emptyOutputs(sub string) error {
	names, err := os.ReadFile(filepath.Join(sub, writtenName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := strings.Fields(string(names))
	return d.empty(sub, func(name string) bool { return name == writtenName || slices.Contains(ours, name) })
}

// emptyState removes what a crawl's state/ holds, but for the lock.
func (d *Discarded) emptyState(state string) error {
	for sub, ours := range map[string]func(string) bool{"db": isDBName, "spool": isBodyName} {
		if err := d.empty(filepath.Join(state, sub), ours); err != nil {
			return err
		}
		_ = os.Remove(filepath.Join(state, sub)) // it stays where it holds something else
	}
	d.Names = slices.DeleteFunc(d.Names, func(n string) bool { return n == "db/" || n == "spool/" })
	return d.empty(state, func(name string) bool {
		return name != lockName && name != "db" && name != "spool" && isStateName(name)
	})
}

// remove removes a file or a directory, and counts it.
func (d *Discarded) remove(dir, name string) error {
	path := filepath.Join(dir, name)
	n, err := sizeOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Bytes += n
	d.Names = append(d.Names, name)
	return os.RemoveAll(path)
}

// empty removes what is ours in a directory.
func (d *Discarded) empty(sub string, ours func(name string) bool) error {
	entries, err := os.ReadDir(sub)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var one Discarded
	for _, e := range entries {
		switch {
		case ours(e.Name()):
			if err := one.remove(sub, e.Name()); err != nil {
				return err
			}
		case e.Name() != lockName && (!e.IsDir() || !isStateName(e.Name())): // what is in ours is named there
			d.Kept = append(d.Kept, filepath.Join(sub, e.Name()))
		}
	}
	if len(one.Names) > 0 {
		d.Bytes += one.Bytes
		d.Names = append(d.Names, filepath.Base(sub)+string(filepath.Separator))
	}
	return nil
}

// checkOurs finds foreign files under the names of a crawl's files.
func checkOurs(dir string) error {
	for name, start := range map[string]string{pagesName: `{"url":"`, packedName: jsonl.PackedStart,
		logName: `{"time":"`} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no file but %s: remove it yourself, or choose another directory with -o", path,
				kindOf(info.Mode()))
		}
		head, err := headOf(path, len(start))
		if err != nil {
			return err
		}
		if _, ours := os.Stat(filepath.Join(dir, "state", formatName)); ours != nil && !strings.HasPrefix(start, head) {
			return fmt.Errorf("%s is not whirlpool's (it does not begin with %s): move it away, or choose another directory "+
				"with -o", path, start)
		}
	}
	strangers, err := strangersIn(filepath.Join(dir, "state"), isStateName)
	if err != nil {
		return err
	}
	switch format, err := os.ReadFile(filepath.Join(dir, "state", formatName)); {
	case err == nil && !strings.HasPrefix(string(format), formatFamily):
		return fmt.Errorf("%s is not whirlpool's: choose another directory with -o", filepath.Join(dir, "state"))
	case errors.Is(err, fs.ErrNotExist) && len(strangers) > 0:
		return fmt.Errorf("%s is not whirlpool's: it holds %s: move it away, or choose another directory with -o",
			filepath.Join(dir, "state"), strangers[0])
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	}
	return "something else"
}

// headOf returns the first bytes of a file, at most n.
func headOf(name string, n int) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, n)
	got, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(buf[:got]), err
}

// countLines counts the lines of a file; none where there is no file.
func countLines(name string) (n int64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<16)
	for {
		got, err := f.Read(buf)
		n += int64(bytes.Count(buf[:got], []byte("\n")))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// countPacked counts the packed lines of a file.
func countPacked(name string) (n int64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := newPackedLines(f, name); ; {
		_, line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		case bytes.HasSuffix(line, []byte("\n")):
			n++
		}
	}
}

// sizeOf is the size of a file, or of all files in a directory.
func sizeOf(path string) (n int64, err error) {
	if _, err := os.Lstat(path); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	return n, err
}
