package local

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// killed is a copy of a crawl directory as a kill leaves it. The copy is made while the store is open.
func killed(t *testing.T, packed bool) (dir, log string) {
	t.Helper()
	from := t.TempDir()
	if packed {
		from = packedDir(t)
	}
	s := openStore(t, from)
	for i := range 60 {
		claim(t, s, "a", fmt.Sprintf("http://a.test/%d", i))
	}
	putPages(t, s.Pages(), 0, 60)
	dir = t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(from)))
	closeStore(t, s)
	logs, err := filepath.Glob(filepath.Join(dir, "state", "db", "*.log"))
	must(t, err)
	return dir, slices.Max(logs)
}

// Damage in the middle of the state's log makes the state an older one. That is told, and records that it does not know
// any more are kept.
func TestDamagedStateIsToldAndDeletesNoRecord(t *testing.T) {
	for _, packed := range []bool{false, true} {
		dir, log := killed(t, packed)
		whole := readFile(t, log)
		at := len(whole) * 3 / 4
		writeFile(t, log, whole[:at]+"damaged!"+whole[at+8:])
		var said strings.Builder
		opt := Default()
		opt.Logger = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelError}))
		s, err := Open(dir, opt)
		must(t, err)
		kept := len(records(t, s.Pages()))
		closeStore(t, s)
		aside := strings.Count(readFile(t, filepath.Join(dir, asideName)), "\n")
		if kept == 0 || aside == 0 || kept+aside != 60 {
			t.Errorf("packed %v: %d records are kept and %d set aside, of 60", packed, kept, aside)
		}
		for _, want := range []string{"the log of the state is damaged", log, "does not know any more are set aside",
			asideName} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("packed %v: %q is not said: %s", packed, want, said.String())
			}
		}
		said.Reset()
		s, err = Open(dir, opt)
		must(t, err)
		closeStore(t, s)
		if said.Len() > 0 {
			t.Errorf("packed %v: said again: %s", packed, said.String())
		}
	}
}

// A log that ends anywhere is what a kill leaves: nothing is said.
func TestTornStateIsNotDamaged(t *testing.T) {
	_, log := killed(t, false)
	whole := readFile(t, log)
	dir := t.TempDir()
	for n := 0; n <= len(whole); n += 97 {
		for _, end := range []string{"", strings.Repeat("\x00", logBlock)} {
			writeFile(t, filepath.Join(dir, filepath.Base(log)), whole[:n]+end)
			if name, at, err := logHole(dir); name != "" || err != nil {
				t.Fatalf("%d bytes of %d: a hole in %q at byte %d, %v", n, len(whole), name, at, err)
			}
		}
	}
}
