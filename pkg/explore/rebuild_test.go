package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// contents are what an index says, whatever numbers it gave to rows.
func contents(t testing.TB, x *Explorer, id crawl.JobID) string {
	t.Helper()
	ix := check1(t)(x.index(t.Context(), id))
	var out []string
	for _, q := range []string{
		"SELECT 'url', url, h.key, kind, u.depth, state, verdict, status, coalesce(word, ''), attempts, at, us, u.bytes, " +
			"epoch, priority, referrer, off FROM urls u JOIN hosts h ON h.id = host LEFT JOIN words w ON w.id = reason",
		"SELECT 'host', key, requests, pages, bytes, c2, c3, c4, c5, none, done, failed, excluded, depth, last, p50, p95, " +
			"hex(hist) FROM hosts WHERE requests + done + failed + excluded > 0",
		"SELECT 'request', h.key, off FROM requests r JOIN hosts h ON h.id = r.host",
		"SELECT 'earlier', url, e.off FROM earlier e JOIN urls u ON u.hash = e.hash",
		"SELECT 'cell', h.key, c.depth, state, n FROM cells c JOIN hosts h ON h.id = c.host WHERE n <> 0",
		"SELECT 'count', what, CASE WHEN what IN ('r', 'L', 'T', 'F') THEN coalesce(word, '') ELSE value END, n FROM " +
			"counts LEFT JOIN words w ON w.id = value WHERE n <> 0",
		"SELECT 'record', url, at, status, depth, bytes, words, title, digest, text, simhash, copy, original, distance, " +
			"off, len, fields FROM records",
		"SELECT 'val', word, value, url FROM vals v JOIN words w ON w.id = v.name JOIN records r ON r.id = v.id",
		"SELECT 'values', word, value, n FROM valcounts v JOIN words w ON w.id = v.name WHERE n <> 0",
		"SELECT 'cluster', original, exact, near, size FROM clusters",
		"SELECT 'found', r.url FROM fts f JOIN records r ON r.id = f.rowid WHERE fts MATCH 'text OR whirls OR home'",
		"SELECT 'words', count(*) FROM fts",
	} {
		rows, err := ix.read.QueryContext(t.Context(), q)
		if err != nil {
			t.Fatal(q, err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(values...))
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		rows.Close()
	}
	sums, err := ix.sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sums {
		out = append(out, fmt.Sprint("sum", s))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// anew is an Explorer with indexes of its own.
func (w *world) anew(dir string) *Explorer {
	x := Open(Options{Dir: filepath.Join(w.dir, dir), Source: w.source, Eager: true})
	w.run(x)
	return x
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, v := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, l := range g {
		if !slices.Contains(v, l) {
			t.Errorf("%s: too much: %s", what, l)
		}
	}
	for _, l := range v {
		if !slices.Contains(g, l) {
			t.Errorf("%s: missing: %s", what, l)
		}
	}
	t.Errorf("%s: %d lines, want %d", what, len(g), len(v))
}

// grow adds to an execution: URLs that are new, attempts of known ones, pages, later visits, copies.
func (w *world) grow(id string, r *rand.Rand, n int) {
	var lines []crawl.LogLine
	var records []*crawl.Record
	for range n {
		k := r.IntN(400)
		url := fmt.Sprintf("https://h%d.test/p%d", k%9, k)
		l := line(url, []crawl.Verdict{crawl.VerdictDone, crawl.VerdictRetry, crawl.VerdictExcluded,
			crawl.VerdictFailed}[r.IntN(4)], r.IntN(3)*200,
			func(l *crawl.LogLine) {
				l.Depth, l.Reason = k%5, []string{"", "timeout", "scope"}[r.IntN(3)]
				l.Duration, l.At = time.Duration(r.IntN(2000))*time.Millisecond,
					began.Add(time.Duration(r.IntN(1e6))*time.Millisecond)
			})
		lines = append(lines, l)
		if k%3 == 0 {
			records = append(records, record(url, fmt.Sprint("Title ", r.IntN(9)), fmt.Sprint("The text ", r.IntN(1000)),
				func(rec *crawl.Record) {
					rec.Simhash = r.Uint64()
					if k%6 == 0 {
						rec.DuplicateOf, rec.Similarity, rec.Text = u(fmt.Sprintf("https://h%d.test/p%d", 3, 3)),
							[]string{"exact", "near"}[k/6%2], ""
					}
					rec.Fields = []crawl.Field{{Name: "n", Value: float64(r.IntN(5))}}
				}))
		}
	}
	w.log(id, lines...)
	w.pages(id, records...)
}

func TestAnIndexMadeAnewEqualsOneThatFollowed(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		w.grow("s-1", r, 50)
		caughtUp(t, x, "s-1")
	}
	y := w.anew("anew")
	caughtUp(t, y, "s-1")
	same(t, "followed", contents(t, x, "s-1"), contents(t, y, "s-1"))
}

// Records are taken back after a crash: those behind them move up, and the file grows again.
func TestRecordsThatMoveAreFollowed(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	r := rand.New(rand.NewPCG(5, 6))
	w.grow("s-1", r, 300)
	x := w.explorer()
	caughtUp(t, x, "s-1")
	name := filepath.Join(w.dir, "executions", "s-1", "pages.jsonl")
	for round := range 5 {
		all, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.SplitAfter(string(all), "\n"), func(l string) bool { return l == "" })
		gone := r.IntN(len(lines))
		if round%2 == 0 { // one is marked as replaced instead
			lines[gone] = strings.Replace(lines[gone], `{"url":"`, `{"was":"`, 1)
		} else {
			lines = slices.Delete(lines, gone, min(gone+3, len(lines)))
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		w.grow("s-1", r, 30)
		caughtUp(t, x, "s-1")
	}
	ix := check1(t)(x.index(t.Context(), "s-1"))
	if ix.pages.gen == 0 {
		t.Error("nobody noticed that records moved")
	}
	// A mark on an old line is not seen, and need not be: the line that replaces it was. Here there is none, so one reads
	// it all again.
	ix.following.Lock()
	ix.pages.restart()
	ix.following.Unlock()
	caughtUp(t, x, "s-1")
	y := w.anew("anew")
	caughtUp(t, y, "s-1")
	same(t, "moved", contents(t, x, "s-1"), contents(t, y, "s-1"))
	l, err := x.Records(t.Context(), "s-1", RecordFilter{}, Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range l.Items {
		if _, err := x.Record(t.Context(), "s-1", rec.Key); err != nil {
			t.Error(rec.URL, err)
		}
	}
}

func TestPackedRecords(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	dir := filepath.Join(w.dir, "executions", "s-1")
	plainFile := filepath.Join(dir, "pages.jsonl")
	all, err := os.ReadFile(plainFile)
	if err != nil {
		t.Fatal(err)
	}
	var packed []byte
	for l := range strings.SplitAfterSeq(string(all), "\n") {
		if l != "" {
			packed = jsonl.Pack(packed, []byte(l))
		}
	}
	if err := os.Remove(plainFile); err != nil {
		t.Fatal(err)
	}
	half := len(packed) / 2 // ends in the middle of a unit
	w.append("s-1", "pages.jsonl.zst", packed[:half])
	x := w.explorer()
	ix := check1(t)(x.index(t.Context(), "s-1"))
	for ix.Index().Records == 0 {
		time.Sleep(time.Millisecond)
	}
	w.append("s-1", "pages.jsonl.zst", packed[half:])
	caughtUp(t, x, "s-1")
	l, err := x.Records(t.Context(), "s-1", RecordFilter{Query: "rivers"}, Page{})
	if err != nil || len(l.Items) != 10 || len(l.Items[0].Snippet) == 0 {
		t.Fatalf("%+v, %v", l, err)
	}
}

// childDir names the directory that a child of TestKilled indexes until it is killed.
const childDir = "WHIRLPOOL_EXPLORE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		job := crawl.DefaultJob()
		x := Open(Options{Dir: filepath.Join(dir, "search"), Eager: true,
			Source: func(_ context.Context, id crawl.JobID) (*Source, error) {
				return &Source{ID: id, Dir: filepath.Join(dir, "executions", string(id)), Job: &job}, nil
			}})
		if err := x.Follow(context.Background(), "s-1"); err != nil {
			panic(err)
		}
		_ = x.Run(context.Background())
	}
	if dir := os.Getenv(childIndex); dir != "" {
		indexUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// An indexer that is killed at any instant goes on where it was.
func TestKilled(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	w := newWorld(t)
	w.site("s-1")
	r := rand.New(rand.NewPCG(8, 9))
	for range 12 {
		w.grow("s-1", r, 600)
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childDir+"="+w.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+r.IntN(100)) * time.Millisecond) // any instant will do
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	x := w.explorer()
	caughtUp(t, x, "s-1")
	y := w.anew("anew")
	caughtUp(t, y, "s-1")
	same(t, "killed", contents(t, x, "s-1"), contents(t, y, "s-1"))
}

// A damaged index is made again.
// An index that was closed has all when it is opened again: nobody is told that it has nothing of what was crawled.
func TestAnIndexThatIsOpenedAgainIsWhole(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	caughtUp(t, w.explorer(), "s-1")
	x := Open(Options{Dir: filepath.Join(w.dir, "search"), Source: w.source}) // nothing of it runs yet
	l := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{}, Page{}))
	if l.Index == nil || l.Index.Share != 1 || l.Index.Building {
		t.Errorf("%+v", l.Index)
	}
}

func TestADamagedIndexIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	if err := os.MkdirAll(filepath.Join(w.dir, "search"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "search", "s-1.db"), []byte(strings.Repeat("no database", 1000)),
		0o644); err != nil {
		t.Fatal(err)
	}
	x := w.explorer()
	caughtUp(t, x, "s-1")
	if l := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{}, Page{})); len(l.Items) != 15 {
		t.Errorf("%d tasks", len(l.Items))
	}
	if err := x.Forget("s-1"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "search", "*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// What cannot be read is told, and does not keep the rest.
func TestAFaultIsTold(t *testing.T) {
	w := newWorld(t)
	w.log("s-1", line("https://a.test/", crawl.VerdictDone, 200, nil))
	w.append("s-1", "crawl.log", []byte("no line\n"))
	w.log("s-1", line("https://a.test/2", crawl.VerdictDone, 200, nil))
	w.append("s-1", "pages.jsonl.zst", []byte(strings.Repeat("no packed line", 100)))
	x := w.explorer()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		ix, err := x.Index(t.Context(), "s-1")
		if err != nil {
			t.Fatal(err)
		}
		if ix.Fault != "" && ix.URLs == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", ix)
		}
	}
	if l := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{}, Page{})); len(l.Items) != 2 {
		t.Errorf("%+v", l)
	}
}
