package local

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// crawled is a directory after a crawl of so many pages.
func crawled(t *testing.T, pages int) (dir string) {
	t.Helper()
	return crawledIn(t, t.TempDir(), pages)
}

func crawledIn(t *testing.T, dir string, pages int) string {
	t.Helper()
	s, ctx := openStore(t, dir), context.Background()
	for i := range pages {
		u := claim(t, s, "a", fmt.Sprintf("http://a.test/%d", i))[0]
		rec := &crawl.Record{URL: u, FinalURL: u, Title: fmt.Sprint(i), Text: strings.Repeat("text ", 20),
			Links: []crawl.Link{
				{URL: mustURL(t, fmt.Sprintf("http://a.test/%d", i+1))}}}
		must(t, s.Pages().Put(ctx, rec))
		must(t, s.URLs().Finish(ctx, testJob, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
		must(t, s.AttemptLog().Append(ctx, crawl.LogLine{URL: u, Verdict: crawl.VerdictDone, Status: 200, Depth: i}))
	}
	closeStore(t, s)
	return dir
}

func auditOf(t *testing.T, dir string) crawl.AuditReport {
	t.Helper()
	return reportOf(t, dir, (*Store).Audit)
}

func repairOf(t *testing.T, dir string) crawl.RepairReport {
	t.Helper()
	return reportOf(t, dir, (*Store).Repair)
}

// reportOf opens a directory that may be damaged, and returns what the store says of it.
func reportOf[R any](t *testing.T, dir string, ask func(*Store, context.Context) (R, error)) R {
	t.Helper()
	opt := Default()
	opt.Repair = true
	s, err := Open(dir, opt)
	must(t, err)
	defer closeStore(t, s)
	r, err := ask(s, context.Background())
	must(t, err)
	return r
}

// queuedAgain returns the URLs that wait to be fetched again.
func queuedAgain(t *testing.T, dir string) (urls []string) {
	t.Helper()
	s := openStore(t, dir)
	defer closeStore(t, s)
	must(t, s.Journal().Load(context.Background(), func(_ uint64, m bus.Message) error {
		for _, task := range m.Event.(*crawl.Fresh).Tasks {
			urls = append(urls, task.URL.String())
		}
		return nil
	}))
	slices.Sort(urls)
	return urls
}

// Whatever is done to the lines of pages.jsonl, an audit names it with URL and byte, and a repair puts it right without
// deleting anything.
func TestHarmToRecordsIsFoundAndMended(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	at := func(lines []string, i int) int { return len(strings.Join(lines[:i], "")) }
	for name, c := range map[string]struct {
		harm   func(lines []string) []string
		fault  string // in the audit's faults
		names  func(lines []string) string
		queued []string
		aside  int // lines
	}{
		"a bit in the text": {func(l []string) []string { l[2] = strings.Replace(l[2], "text", "tex\x34", 1); return l },
			"1 lines of pages.jsonl are damaged",
			func(l []string) string { return fmt.Sprintf("http://a.test/2 at byte %d", at(l, 2)) }, []string{"http://a.test/2"},
			1},
		"a bit in the URL": {func(l []string) []string { l[2] = strings.Replace(l[2], "a.test", "c.test", 1); return l },
			"1 records are missing", func(l []string) string { return fmt.Sprintf("http://a.test/2 at byte %d", at(l, 2)) },
			[]string{"http://a.test/2"}, 1},
		"no JSON": {func(l []string) []string { l[3] = strings.Repeat("x", len(l[3])-1) + "\n"; return l },
			"1 lines of pages.jsonl are damaged", func(l []string) string { return fmt.Sprintf("at byte %d", at(l, 3)) },
			[]string{"http://a.test/3"}, 1},
		"a line end": {func(l []string) []string { l[1] = strings.TrimSuffix(l[1], "\n") + " "; return l }, "damaged",
			func(l []string) string { return fmt.Sprintf("http://a.test/1 at byte %d", at(l, 1)) },
			[]string{"http://a.test/1", "http://a.test/2"}, 1},
		"a missing line": {func(l []string) []string { return slices.Delete(l, 1, 2) }, "1 records are missing",
			func([]string) string { return "http://a.test/1 at byte" }, []string{"http://a.test/1"}, 0},
		"the last line missing": {func(l []string) []string { return l[:5] }, "1 records are missing",
			func([]string) string { return "http://a.test/5 at byte" }, []string{"http://a.test/5"}, 0},
		"a doubled line": {func(l []string) []string { return slices.Insert(l, 2, l[1]) },
			"1 lines of pages.jsonl are not in its index",
			func(l []string) string { return fmt.Sprintf("http://a.test/1 at byte %d", at(l, 2)) }, nil, 1},
		"a foreign line": {func(l []string) []string { return append(l, "mine\n") }, "1 lines of pages.jsonl are damaged",
			func(l []string) string { return fmt.Sprintf("at byte %d", at(l, 6)) }, nil, 1},
		"a foreign record": {func(l []string) []string {
			return append([]string{strings.ReplaceAll(l[0], "a.test", "z.test")},
				l...)
		},
			"not in its index", func([]string) string { return "http://z.test/0 at byte 0" }, nil, 1},
		"another order": {func(l []string) []string { slices.Reverse(l); return l }, "6 records stand elsewhere",
			func([]string) string { return "http://a.test/5 at byte 0, not" }, nil, 0},
		"nothing left": {func([]string) []string { return nil }, "6 records are missing",
			func([]string) string { return "http://a.test/0 at byte 0" },
			[]string{"http://a.test/0", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4",
				"http://a.test/5"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crawled(t, 6)
			file := filepath.Join(dir, pagesName)
			if r := auditOf(t, dir); len(r.Faults) > 0 {
				t.Fatalf("before: %q", r.Faults)
			}
			lines := strings.SplitAfter(strings.TrimSuffix(readFile(t, file), "\n"), "\n")
			lines[5] += "\n"
			before := slices.Clone(lines)
			harmed := c.harm(lines)
			writeFile(t, file, strings.Join(harmed, ""))
			got := auditOf(t, dir)
			if !strings.Contains(strings.Join(got.Faults, "\n"), c.fault) ||
				!strings.Contains(fmt.Sprint(got.Examples), c.names(harmed)) {
				t.Errorf("faults %q with examples %q; want %q with %q", got.Faults, got.Examples, c.fault, c.names(harmed))
			}
			r := repairOf(t, dir)
			if len(r.Left) > 0 || r.SetAside != int64(c.aside) || r.Queued != int64(len(c.queued)) {
				t.Errorf("repair: %+v; want %d set aside, %d queued", r, c.aside, len(c.queued))
			}
			if got := queuedAgain(t, dir); !slices.Equal(got, c.queued) {
				t.Errorf("queued again: %q, want %q", got, c.queued)
			}
			if r := auditOf(t, dir); len(r.Faults) > 0 {
				t.Errorf("after the repair: %q, examples %q", r.Faults, r.Examples)
			}
			whole := readFile(t, file)
			if c.aside > 0 {
				whole += readFile(t, filepath.Join(dir, asideName))
			}
			for _, l := range harmed { // nothing was deleted
				if !strings.Contains(whole, l) {
					t.Errorf("a line is gone: %.80q", l)
				}
			}
			if r := repairOf(t, dir); r.Changed() {
				t.Errorf("a second repair: %+v", r)
			}
			_ = before
		})
	}
}

func TestRepairOfStates(t *testing.T) {
	ctx := context.Background()
	key := func(t *testing.T, u string) weburl.Key { return mustURL(t, u).Key() }
	for name, c := range map[string]struct {
		harm  func(s *Store) error
		fault string
		left  string
		check func(r *crawl.RepairReport) int64
	}{
		"a lost URL that a record links to": {func(s *Store) error { claim(t, s, "b", "http://a.test/6"); return nil },
			"are lost", "", func(r *crawl.RepairReport) int64 { return r.Queued }},
		"a lost URL that stands nowhere": {func(s *Store) error { claim(t, s, "b", "http://b.test/"); return nil },
			"are lost", "are lost", func(r *crawl.RepairReport) int64 { return r.Queued + 1 }},
		"a page without record and reason": {func(s *Store) error {
			u := claim(t, s, "b", "http://a.test/6")[0]
			return s.URLs().Finish(ctx, testJob, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200})
		}, "neither a record nor a reason", "", func(r *crawl.RepairReport) int64 { return r.Queued }},
		"a queued URL without a claim": {func(s *Store) error {
			return s.Queues().Push(ctx, crawl.Queued{Queue: "back.1",
				Task: crawl.Task{Job: testJob, URL: mustURL(t, "http://q.test/")}})
		}, "never claimed", "", func(r *crawl.RepairReport) int64 { return r.Claimed }},
		"a wrong counter": {func(s *Store) error {
			return s.do(ctx, func(b *pebble.Batch) {
				_ = b.Set(append(appendJob(nil, kindTally, 0), countClaimed), []byte{2},
					nil)
			})
		}, "counters", "", func(r *crawl.RepairReport) int64 { return r.Counters }},
		"an index entry that is gone": {func(s *Store) error {
			return s.do(ctx, func(b *pebble.Batch) { _ = b.Delete(makePageKey(0, key(t, "http://a.test/3")), nil) })
		}, "not in its index", "", func(r *crawl.RepairReport) int64 { return r.Indexed }},
		"an index entry that is damaged": {func(s *Store) error {
			return s.do(ctx, func(b *pebble.Batch) { _ = b.Set(makePageKey(0, key(t, "http://a.test/3")), []byte{0xff}, nil) })
		}, "damaged", "", func(r *crawl.RepairReport) int64 { return r.Indexed }},
		"a record of an open URL": {func(s *Store) error {
			u := claim(t, s, "b", "http://a.test/6")[0]
			must(t, s.Queues().Push(ctx, crawl.Queued{Queue: "back.1", Task: crawl.Task{Job: testJob, URL: u}}))
			return s.Pages().Put(ctx, &crawl.Record{URL: u, FinalURL: u})
		}, "outcome is no page", "", func(r *crawl.RepairReport) int64 { return r.SetAside }},
		"a record that nobody claimed": {func(s *Store) error {
			return s.Pages().Put(ctx, &crawl.Record{URL: mustURL(t, "http://stray.test/")})
		}, "nobody claimed", "", func(r *crawl.RepairReport) int64 { return r.SetAside }},
		"a dead letter that cannot be read": {func(s *Store) error {
			return s.do(ctx, func(b *pebble.Batch) { _ = b.Set(deadKey(crawl.MessageID{1}), []byte{0xff}, nil) })
		}, "", "", func(r *crawl.RepairReport) int64 { return r.SetAside }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crawled(t, 6)
			s := openStore(t, dir)
			must(t, c.harm(s))
			closeStore(t, s)
			got := auditOf(t, dir)
			if all := strings.Join(got.Faults, "\n"); !strings.Contains(all, c.fault) ||
				c.fault == "" && (all != "" || len(got.Unproven) != 1) {
				t.Fatalf("faults %q, want %q; not proven: %q", got.Faults, c.fault, got.Unproven)
			}
			r := repairOf(t, dir)
			if c.check(&r) != 1 || !strings.Contains(strings.Join(r.Left, "\n"), c.left) || c.left == "" && len(r.Left) > 0 {
				t.Errorf("repair: %+v", r)
			}
			if got := auditOf(t, dir); c.left == "" && len(got.Faults)+len(got.Unproven) > 0 {
				t.Errorf("after the repair: %q, %q", got.Faults, got.Unproven)
			}
		})
	}
}

// Files that a repair replaces are not taken for deleted or moved ones, however often the store looks for those.
func TestARepairIsNoLossOfFiles(t *testing.T) {
	opt := Default()
	opt.Repair, opt.SyncEvery = true, 50*time.Microsecond
	for range 5 {
		dir := crawled(t, 3)
		s := openStore(t, dir)
		must(t, s.Pages().Put(context.Background(), &crawl.Record{URL: mustURL(t, "http://stray.test/")}))
		closeStore(t, s)
		file := filepath.Join(dir, logName)
		writeFile(t, file, strings.Replace(readFile(t, file), `"verdict"`, `"verdict`, 1))
		s, err := Open(dir, opt)
		must(t, err)
		r, err := s.Repair(context.Background())
		if err != nil || r.SetAside != 2 {
			t.Errorf("repair: %+v, %v", r, err)
		}
		must(t, s.Err())
		closeStore(t, s)
	}
}

func TestDamagedLogLinesAreSetAside(t *testing.T) {
	dir := crawled(t, 3)
	file := filepath.Join(dir, logName)
	writeFile(t, file, strings.Replace(readFile(t, file), `"verdict"`, `"verdict`, 1))
	if r := auditOf(t, dir); len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "1 lines of crawl.log") {
		t.Errorf("faults %q", r.Faults)
	}
	if r := repairOf(t, dir); r.SetAside != 1 || len(r.Left) > 0 {
		t.Errorf("repair: %+v", r)
	}
	if r := auditOf(t, dir); len(r.Faults) > 0 || strings.Count(readFile(t, file), "\n") != 2 {
		t.Errorf("faults %q", r.Faults)
	}
}

// A page that a later visit found as it was before, and that was never stored, is fetched again.
func TestAPageThatWasNeverStoredIsFetchedAgain(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	u := claim(t, s, "by", "http://a.test/never")[0]
	same := crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 304, Visit: 1}
	must(t, s.URLs().Finish(context.Background(), testJob, same))
	line := crawl.LogLine{Job: testJob, URL: u, Verdict: crawl.VerdictDone, Status: 304}
	must(t, s.AttemptLog().Append(context.Background(), line))
	closeStore(t, s)
	repairOf(t, dir)
	if got := queuedAgain(t, dir); !slices.Equal(got, []string{u.String()}) {
		t.Errorf("queued again: %q, want %s", got, u)
	}
	if a := auditOf(t, dir); len(a.Faults) > 0 {
		t.Errorf("the audit afterwards: %q", a.Faults)
	}
}
