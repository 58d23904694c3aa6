package local

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// asideName is the file beside pages.jsonl for lines that are damaged or are not records of the crawl. Nothing is
// deleted that a user may need.
const asideName = "pages.set-aside.jsonl"

// aside appends lines to the file of what was set aside. It makes the file with the first line.
type aside struct {
	name  string
	file  *os.File
	buf   *bufio.Writer
	lines int64
}

func newAside(dir string) *aside { return &aside{name: filepath.Join(dir, asideName)} }

// add appends a line. One that has no end is given one.
func (a *aside) add(line []byte) (err error) {
	if a.file == nil {
		if a.file, err = os.OpenFile(a.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
			return fmt.Errorf("set lines aside: %w", err)
		}
		a.buf = bufio.NewWriter(a.file)
	}
	a.lines++
	_, err = a.buf.Write(line)
	if len(line) == 0 || line[len(line)-1] != '\n' {
		err = errors.Join(err, a.buf.WriteByte('\n'))
	}
	return err
}

// flush makes durable what was set aside. It is called before anything is taken from where it was.
func (a *aside) flush() error {
	if a.file == nil {
		return nil
	}
	if err := errors.Join(a.buf.Flush(), a.file.Sync()); err != nil {
		return fmt.Errorf("set lines aside in %s: %w", a.name, err)
	}
	return nil
}

func (a *aside) close() error {
	if a.file == nil {
		return nil
	}
	err := errors.Join(a.flush(), a.file.Close())
	a.file = nil
	return err
}
