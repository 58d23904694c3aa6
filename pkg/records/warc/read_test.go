package warc_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// Reading a file in which something is damaged ends, with an error or without, and every capture it tells of is there.
func FuzzReadCaptures(f *testing.F) {
	dir := f.TempDir()
	w, err := warc.Open(dir, warc.Options{})
	if err != nil {
		f.Fatal(err)
	}
	x := page(f, 1)
	for range 2 {
		if err := w.Write(f.Context(), x); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	files, err := warc.Files(dir)
	if err != nil || len(files) != 1 {
		f.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.warc.gz", "a.warc.gz" + ".open"} {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _ = warc.ReadCaptures(file, func(c *warc.Capture) error {
				if c.Offset < 0 || c.Length <= 0 || c.Offset+c.Length > int64(len(data)) {
					t.Fatalf("%+v of %d bytes", c, len(data))
				}
				return c.Body(func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
			})
		}
	})
}

// A file that is being written, or was when its process died, is read up to its last whole record.
func TestReadCapturesOfAnOpenFile(t *testing.T) {
	dir := t.TempDir()
	w, err := warc.Open(dir, warc.Options{Remember: -1})
	if err != nil {
		t.Fatal(err)
	}
	x := page(t, 1)
	for range 3 {
		if err := w.Write(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	files, err := warc.Files(dir)
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], ".open") {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for cut, want := range map[int]int{0: 3, 10: 3, len(data) / 3: 2} { // the last record is metadata
		if err := os.WriteFile(files[0], data[:len(data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		end, err := warc.ReadCaptures(files[0], func(c *warc.Capture) error {
			n++
			return c.Body(func(r io.Reader) error {
				body, err := io.ReadAll(r)
				if !bytes.Equal(body, x.Body) || c.URL != x.URL.String() || c.Status != 200 {
					t.Errorf("%+v has the body %.40q", c, body)
				}
				return err
			})
		})
		if err != nil || n != want || end > int64(len(data)-cut) {
			t.Errorf("%d bytes cut: %d captures up to %d of %d, %v", cut, n, end, len(data)-cut, err)
		}
	}
	_ = w.Close()
}
