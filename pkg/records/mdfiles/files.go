// Package mdfiles writes the Markdown of pages as files: one a page, in folders named after hosts and paths, with front
// matter in YAML.
//
// Its duties: a name for every URL that no other has; a file that is whole or not there; nothing written outside the
// directory, whatever a URL says. The files are made of records alone, so they can be made again at any time: that is
// how they are right after a crash.
package mdfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Writer writes files into a directory. One goroutine may use it.
type Writer struct {
	root    *os.Root
	dir     string
	made    map[string]bool // folders that are there
	Written int             // files that were new or changed
	Same    int             // files that were there
}

// maxMade bounds what is remembered of folders.
const maxMade = 100_000

// Open makes the directory where it is missing.
func Open(dir string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory of the Markdown files: %w", err)
	}
	root, err := os.OpenRoot(dir) // through which nothing leads out, symbolic links included
	if err != nil {
		return nil, fmt.Errorf("directory of the Markdown files: %w", err)
	}
	return &Writer{root: root, dir: dir, made: map[string]bool{}}, nil
}

// Close ends the use of the directory.
func (w *Writer) Close() error { return w.root.Close() }

// Put writes the file of a record. A file that is as it should be stays; that of a record without Markdown goes: what
// was no copy before a crash may be one when the page was fetched again.
func (w *Writer) Put(r *crawl.Record) error {
	name, content := Name(r.URL), Content(r)
	if r.Markdown == "" {
		return w.remove(filepath.FromSlash(name))
	}
	if old, err := w.root.ReadFile(filepath.FromSlash(name)); err == nil && bytes.Equal(old, content) {
		w.Same++
		return nil
	}
	if err := w.write(filepath.FromSlash(name), path.Dir(name), content); err != nil {
		return fmt.Errorf("write the Markdown of %s to %s: %w", r.URL, filepath.Join(w.dir, name), err)
	}
	w.Written++
	return nil
}

// write replaces a file atomically: readers find the old file or the whole new one, even after a crash.
func (w *Writer) write(name, folder string, content []byte) (err error) {
	if !w.made[folder] {
		if err := w.root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
			return err
		}
		if len(w.made) >= maxMade {
			clear(w.made)
		}
		w.made[folder] = true
	}
	part := name + ".part"
	if err := w.root.WriteFile(part, content, 0o644); err != nil {
		return errors.Join(err, w.remove(part))
	}
	if err := w.root.Rename(part, name); err != nil {
		return errors.Join(err, w.remove(part))
	}
	return nil
}

func (w *Writer) remove(name string) error {
	if err := w.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Content is the file of a record: front matter, the title where the text does not begin with a heading of its own, and
// the Markdown.
func Content(r *crawl.Record) []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, f := range []struct{ key, value string }{
		{"url", r.URL.String()}, {"title", r.Title}, {"date", Date(r.FetchedAt)}, {"lang", r.Lang},
		{"author", r.Author}, {"published", Date(r.Published)}, {"modified", Date(r.Modified)}, {"canonical", r.Canonical},
	} {
		if f.value != "" {
			b.WriteString(f.key + ": " + quoted(f.key, f.value) + "\n")
		}
	}
	b.WriteString("---\n\n")
	b.WriteString(r.Markdown)
	b.WriteByte('\n')
	return b.Bytes()
}

// Date is a date in front matter; "" where there is none.
func Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// quoted is a value in YAML: dates as they are, all else in double quotes, which YAML reads as JSON's.
func quoted(key, value string) string {
	switch key {
	case "date", "published", "modified":
		return value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return `""`
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
