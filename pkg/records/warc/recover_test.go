package warc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

const openName = "WHIRLPOOL-20260102T030405Z-00001-crawler1.warc.gz.open"

// reopened puts content where a killed process would have left it, opens the archive and returns the finished file;
// nil: none is left.
func reopened(t *testing.T, content []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, openName), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, warc.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	list := names(t, dir)
	if len(list) == 0 {
		return nil
	}
	if len(list) != 1 || list[0] != strings.TrimSuffix(openName, ".open") {
		t.Fatalf("files: %q", list)
	}
	return only(t, dir)
}

// ends returns where each gzip member of the file ends: a cut there leaves a file that reads to its end.
func ends(t *testing.T, file []byte) (list []int) {
	t.Helper()
	for i := 1; i <= len(file); i++ {
		if i < len(file) && !bytes.HasPrefix(file[i:], []byte{0x1f, 0x8b, 0x08}) {
			continue
		}
		if found, _ := faults(t, file[:i]); len(found) == 0 {
			list = append(list, i)
		}
	}
	return list
}

func TestFileCutAnywhereKeepsItsWholeRecords(t *testing.T) {
	file := only(t, write(t, warc.Options{}, page(t, 1), page(t, 1), page(t, 2)))
	whole := ends(t, file)
	if len(whole) != 10 {
		t.Fatalf("want ends of 10 records, have %v", whole)
	}
	for cut := 0; cut <= len(file); cut += 31 {
		want := 0
		for _, end := range whole {
			if end <= cut {
				want = end
			}
		}
		if got := reopened(t, file[:cut]); !bytes.Equal(got, file[:want]) {
			t.Fatalf("cut at %d: %d bytes left, want %d", cut, len(got), want)
		}
	}
}

func TestFileCutAtTheEdges(t *testing.T) {
	file := only(t, write(t, warc.Options{}, page(t, 1)))
	whole := ends(t, file)
	for i, end := range whole {
		before := 0
		if i > 0 {
			before = whole[i-1]
		}
		for _, c := range []struct {
			name      string
			cut, want int
		}{
			{"before the last byte of the checksum", end - 1, before}, {"before the checksum", end - 8, before},
			{"at the end", end, end}, {"after a byte of the next", end + 1, end}, {"within the next's header", end + 9, end},
			{"after the next's header", end + 10, end},
		} {
			if c.cut > len(file) {
				continue
			}
			if got := reopened(t, file[:c.cut]); !bytes.Equal(got, file[:c.want]) {
				t.Errorf("record %d, %s: %d bytes left, want %d", i, c.name, len(got), c.want)
			} else if len(got) > 0 {
				wantFlawless(t, got)
			}
		}
	}
}

func TestTailOfZerosIsCut(t *testing.T) { // as file systems leave it after a power failure
	file := only(t, write(t, warc.Options{}, page(t, 1)))
	if got := reopened(t, append(bytes.Clone(file), make([]byte, 5000)...)); !bytes.Equal(got, file) {
		t.Errorf("%d bytes left, want %d", len(got), len(file))
	}
}

func TestFileInUseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, warc.Options{})
	if err := w.Write(t.Context(), page(t, 1)); err != nil {
		t.Fatal(err)
	}
	other := open(t, dir, warc.Options{}) // a second fetcher on the same machine
	if err := other.Write(t.Context(), page(t, 2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), page(t, 3)); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*warc.Writer{w, other} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	list := names(t, dir)
	if len(list) != 2 || strings.HasSuffix(list[0], ".open") || strings.HasSuffix(list[1], ".open") {
		t.Fatalf("files: %q", list)
	}
	for _, name := range list {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		wantFlawless(t, b)
	}
}

func TestRecoveryReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	file := only(t, write(t, warc.Options{}, page(t, 1)))
	for _, name := range []string{openName, strings.TrimSuffix(openName, ".open")} {
		if err := os.WriteFile(filepath.Join(dir, name), file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := warc.Open(dir, warc.Options{}); err == nil {
		t.Error("a finished file would have been overwritten")
	}
}

func TestOtherFilesAreNotTouched(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.open", "old.warc.gz", "x.warc.open"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, warc.Options{})
	if list := names(t, dir); len(list) != 3 {
		t.Errorf("files: %q", list)
	}
}
