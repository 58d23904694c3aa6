package explore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// openDir opens the index of an execution's directory.
func (w *world) openDir(id string, anew bool) (*DirIndex, []string, error) {
	var told []string
	d, err := OpenDirIndex(w.t.Context(), filepath.Join(w.dir, "executions", id), anew,
		func(s string) { told = append(told, s) })
	return d, told, err
}

func (w *world) mustOpenDir(id string) *DirIndex {
	w.t.Helper()
	d, told, err := w.openDir(id, false)
	if err != nil || len(told) > 0 {
		w.t.Fatal(told, err)
	}
	w.t.Cleanup(func() { _ = d.Close() })
	return d
}

func whole(t testing.TB, d *DirIndex) {
	t.Helper()
	for {
		more, err := d.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// urlsFound are the URLs of a search, in their order, over all pages of the list.
func urlsFound(t testing.TB, d *DirIndex, f RecordFilter, limit int) (out []string) {
	t.Helper()
	for p := (Page{Limit: limit}); ; {
		l, err := d.Records(t.Context(), f, p)
		if err != nil {
			t.Fatal(f, err)
		}
		for _, r := range l.Items {
			out = append(out, r.URL)
		}
		if p.Cursor = l.Next; p.Cursor == "" {
			return out
		}
	}
}

func TestDirIndex(t *testing.T) {
	w := newWorld(t)
	w.site("d-1")
	d := w.mustOpenDir("d-1")
	whole(t, d)
	if got := urlsFound(t, d, RecordFilter{Query: "rivers"}, 3); len(got) != 10 {
		t.Errorf("%d records in pages: %v", len(got), got)
	}
	w.pages("d-1", record("https://a.test/best", "Rivers", "rivers and rivers", nil),
		record("https://a.test/worst", "Other", strings.Repeat("much else ", 500)+"rivers", nil))
	whole(t, d)
	got := urlsFound(t, d, RecordFilter{Query: "rivers"}, 5)
	if len(got) != 12 || got[0] != "https://a.test/best" || got[11] != "https://a.test/worst" {
		t.Errorf("ranked: %v", got)
	}
	long := strings.Repeat("much else ", 3000) + strings.Repeat("of the delta ", 3)
	w.pages("d-1", record("https://a.test/guide", "Delta", long, nil), record("https://a.test/delta", "Guide", long, nil),
		record("https://a.test/mention", "Other", strings.Repeat("delta it says ", 40), nil))
	whole(t, d)
	if got := urlsFound(t, d, RecordFilter{Query: "delta"}, 5); len(got) != 3 || got[2] != "https://a.test/mention" {
		t.Errorf("long pages that the word names come behind one that mentions it: %v", got)
	}
	if got := urlsFound(t, d, RecordFilter{Query: "rivers", Sort: Newest}, 5); len(got) != 12 ||
		got[0] != "https://a.test/worst" {
		t.Errorf("newest first: %v", got)
	}
	if behind, all := d.Behind(); behind != 0 || all == 0 {
		t.Errorf("%d of %d bytes behind", behind, all)
	}
	if _, err := d.Records(t.Context(), RecordFilter{Query: `"open`}, Page{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a query that cannot be read: %v", err)
	}
}

// Of a page that was visited again only the newest version is found, also while its line is not replaced yet.
func TestDirIndexHasNewestVersionsOnly(t *testing.T) {
	w := newWorld(t)
	w.pages("d-1", record("https://a.test/", "Old", "stale words", nil))
	d := w.mustOpenDir("d-1")
	whole(t, d)
	w.pages("d-1", record("https://a.test/", "New", "fresh words", func(r *crawl.Record) { r.Visit = 1 }))
	name := filepath.Join(w.dir, "executions", "d-1", "pages.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, replaced := jsonl.Mark()
	copy(text, replaced)
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := urlsFound(t, d, RecordFilter{Query: "stale"}, 5); len(got) != 0 {
		t.Errorf("replaced and not indexed yet: found %v", got)
	}
	whole(t, d)
	if got := urlsFound(t, d, RecordFilter{Query: "stale OR fresh"}, 5); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	w.pages("d-1", record("https://a.test/gone", "Gone", "former words", func(r *crawl.Record) {
		r.GoneAt, r.MovedTo = began, r.URL
	}))
	whole(t, d)
	l, err := d.Records(t.Context(), RecordFilter{Query: "words"}, Page{Limit: 5})
	if err != nil || len(l.Items) != 2 || !l.Items[0].GoneAt.Equal(began) && !l.Items[1].GoneAt.Equal(began) {
		t.Errorf("nothing says that a page is gone: %+v, %v", l, err)
	}
	if a, b := l.Items[0].MovedTo, l.Items[1].MovedTo; a+b != "https://a.test/gone" {
		t.Errorf("nothing says that a page moved: %q, %q", a, b)
	}
	if got := urlsFound(t, d, RecordFilter{Query: "stale"}, 5); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

// Several processes let an index grow at once, while records come: each record is in it once.
func TestDirIndexOfManyWriters(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	w.grow("d-1", r, 300)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		d := w.mustOpenDir("d-1")
		wg.Go(func() {
			for last := false; ; {
				more, err := d.Step(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if last && !more {
					return
				}
				select {
				case <-done:
					last = true
				default:
				}
			}
		})
	}
	for range 20 {
		w.grow("d-1", r, 60)
	}
	close(done)
	wg.Wait()
	sameAsAnew(t, w, "d-1")
}

// Processes that open an index at once make it once.
func TestDirIndexIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	for round := range 30 {
		id := fmt.Sprintf("d-%d", round)
		w.site(id)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				d, told, err := w.openDir(id, false)
				if err != nil || len(told) > 0 {
					t.Errorf("round %d: told %q, %v", round, told, err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// A process that cannot write because another one does waits for it, and gives up only where that does not go on.
func TestDirIndexWaitsForAnotherWriter(t *testing.T) {
	w := newWorld(t)
	w.site("d-1")
	d := w.mustOpenDir("d-1")
	execute := func(db *sql.DB, statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute(d.x.write, "PRAGMA busy_timeout = 20")
	other := w.mustOpenDir("d-1")
	execute(other.x.write, "BEGIN IMMEDIATE")
	for range 2 {
		if more, err := d.Step(t.Context()); !more || err != nil {
			t.Fatalf("it does not wait: more %v, %v", more, err)
		}
	}
	longAgo := func() { d.x.lockedSince = time.Now().Add(-2 * lockedMost) }
	longAgo()
	if more, err := d.Step(t.Context()); more || err == nil || !strings.Contains(err.Error(), d.x.name) {
		t.Errorf("the other does not go on: more %v, %v", more, err)
	}
	execute(other.x.write, "ROLLBACK")
	if more, err := other.Step(t.Context()); !more || err != nil {
		t.Fatal(more, err)
	}
	execute(other.x.write, "BEGIN IMMEDIATE")
	longAgo()
	if more, err := d.Step(t.Context()); !more || err != nil {
		t.Errorf("the other has gone on: more %v, %v", more, err)
	}
	execute(other.x.write, "ROLLBACK")
	whole(t, d)
	w.pages("d-1", record("https://a.test/later", "Later", "later words", nil))
	whole(t, other)
	longAgo()
	if more, err := d.Step(t.Context()); !more || err != nil || !d.x.lockedSince.IsZero() {
		t.Errorf("it had the lock, and another had indexed: more %v, %v, locked since %v", more, err, d.x.lockedSince)
	}
	whole(t, d)
	if !d.x.lockedSince.IsZero() {
		t.Error("it takes the file for locked")
	}
	sameAsAnew(t, w, "d-1")
}

// sameAsAnew compares the index of a directory with one that is made anew.
func sameAsAnew(t *testing.T, w *world, id string) {
	t.Helper()
	d := w.mustOpenDir(id)
	whole(t, d)
	got := d.contents(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again, told, err := w.openDir(id, true)
	if err != nil || len(told) != 1 {
		t.Fatal(told, err)
	}
	defer again.Close()
	whole(t, again)
	same(t, "the index", got, again.contents(t))
}

// contents are what the index has of records, whatever their numbers are.
func (d *DirIndex) contents(t testing.TB) string {
	t.Helper()
	var out []string
	for _, q := range []string{
		"SELECT url || ' ' || title || ' ' || at || ' ' || off || ' ' || len || ' ' || sum FROM records",
		"SELECT 'found ' || r.url FROM fts f JOIN records r ON r.id = f.rowid WHERE fts MATCH 'text'",
		"SELECT 'words ' || count(*) FROM fts",
		"SELECT 'counted ' || value || ' ' || n FROM counts WHERE what = 'C' AND n <> 0",
	} {
		err := each(t.Context(), d.x.read, q, nil, func(scan func(...any) error) error {
			row := ""
			err := scan(&row)
			out = append(out, row)
			return err
		})
		if err != nil {
			t.Fatal(q, err)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestDirIndexThatIsNotOurs(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(t *testing.T, file string)
		told string
		err  error
		says string
	}{
		"garbage": {func(t *testing.T, file string) { write(t, file, strings.Repeat("garbage ", 1000)) }, "is damaged",
			nil, ""},
		"empty": {func(t *testing.T, file string) { write(t, file, "") }, "", nil, ""},
		"another": {func(t *testing.T, file string) { run(t, file, "CREATE TABLE x(y); PRAGMA user_version = 3") }, "",
			ErrForeign, "move it away"},
		"another, too": {func(t *testing.T, file string) { run(t, file, "CREATE TABLE x(y)") }, "", ErrForeign,
			"move it away"},
		"newer": {func(t *testing.T, file string) { run(t, file, markSQL+"PRAGMA user_version = 99") }, "", nil,
			"a newer whirlpool"},
		"older": {func(t *testing.T, file string) { run(t, file, markSQL+"PRAGMA user_version = 1") },
			"an older whirlpool", nil, ""},
		"cut in a half": {halfOfIndex, "is damaged", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.site("d-1")
			file := filepath.Join(w.dir, "executions", "d-1", DirIndexName)
			tc.make(t, file)
			d, told, err := w.openDir("d-1", false)
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) || tc.err != nil && !errors.Is(err, tc.err) {
					t.Fatalf("error %v, want %q", err, tc.says)
				}
				return
			}
			if err != nil || !strings.Contains(strings.Join(told, ""), tc.told) || (tc.told == "") != (len(told) == 0) {
				t.Fatalf("%q, %v", told, err)
			}
			defer d.Close()
			whole(t, d)
			if got := urlsFound(t, d, RecordFilter{Query: "rivers"}, 50); len(got) != 10 {
				t.Errorf("found %v", got)
			}
		})
	}
}

var markSQL = fmt.Sprintf("CREATE TABLE meta(x); PRAGMA application_id = %d; ", schemaMark)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, file, sqlText string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err == nil {
		_, err = db.ExecContext(t.Context(), sqlText)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// halfOfIndex leaves the first pages of an index that was whole.
func halfOfIndex(t *testing.T, file string) {
	w := newWorld(t)
	w.site("d-1")
	d := w.mustOpenDir("d-1")
	whole(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "executions", "d-1", DirIndexName))
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text[:100])+strings.Repeat("x", 5000))
}

// childIndex names the directory that a child of TestDirIndexKilled indexes until it is killed.
const childIndex = "WHIRLPOOL_DIRINDEX_CHILD"

// indexUntilKilled indexes a batch for each byte that it is given, and gives one back for each.
func indexUntilKilled(dir string) {
	d, err := OpenDirIndex(context.Background(), dir, false, func(string) {})
	if err != nil {
		panic(err)
	}
	for one := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(one); err != nil {
			panic(err)
		}
		if _, err := d.Step(context.Background()); err != nil {
			panic(err)
		}
		if _, err := os.Stdout.Write(one); err != nil {
			panic(err)
		}
	}
}

// killWithin lets a process index some batches, and kills it in or behind the last.
func killWithin(t *testing.T, dir string, batches int, wait time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childIndex+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = in.Write(make([]byte, batches))
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, batches-1))
	}
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// An indexer that is killed at any instant loses nothing, and has nothing twice. The records grow, are replaced and cut
// meanwhile.
func TestDirIndexKilled(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("seconds of CPU time")
	}
	w := newWorld(t)
	r := rand.New(rand.NewPCG(10, 11))
	dir := filepath.Join(w.dir, "executions", "d-1")
	for kill := range 10 {
		w.grow("d-1", r, 900) // some eight batches
		killWithin(t, dir, 3+r.IntN(3), time.Duration(r.IntN(8_000))*time.Microsecond)
		d := w.mustOpenDir("d-1")
		if behind, all := d.Behind(); behind == 0 || behind == all {
			t.Errorf("kill %d: %d of %d bytes are not indexed: it did not hit an indexer at work", kill, behind, all)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if kill%3 == 2 { // the crawl crashed, and lost its last lines
			cutLines(t, filepath.Join(dir, "pages.jsonl"), 5)
		}
	}
	sameAsAnew(t, w, "d-1")
}

// cutLines takes the last lines of a file away.
func cutLines(t *testing.T, name string, n int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	kept := bytes.Join(lines[:max(0, len(lines)-n-1)], nil)
	if err := os.WriteFile(name, kept, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A process whose view of the index is old does not take back what another has done.
func TestDirIndexOfALateWriter(t *testing.T) {
	w := newWorld(t)
	w.grow("d-1", rand.New(rand.NewPCG(3, 3)), 200)
	late := w.mustOpenDir("d-1")
	d := w.mustOpenDir("d-1")
	whole(t, d)
	cutLines(t, filepath.Join(w.dir, "executions", "d-1", "pages.jsonl"), 5)
	whole(t, d) // it reads the file again
	if d.x.pages.gen == 0 {
		t.Fatal("nobody noticed that the file was cut")
	}
	if more, err := late.Step(t.Context()); err != nil || !more {
		t.Fatal(more, err)
	}
	var off, gen int64
	if err := errors.Join(getMeta(t.Context(), d.x.read, "pages.off", &off),
		getMeta(t.Context(), d.x.read, "pages.gen", &gen)); err != nil {
		t.Fatal(err)
	}
	if off != d.x.pages.off || gen != d.x.pages.gen || late.x.pages.off != off || late.x.pages.gen != gen {
		t.Errorf("the index is at %d of reading %d, the first writer at %d of %d, the late one at %d of %d", off, gen,
			d.x.pages.off, d.x.pages.gen, late.x.pages.off, late.x.pages.gen)
	}
	sameAsAnew(t, w, "d-1")
}
