package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const testJob = crawl.JobID("test")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func claim(t testing.TB, s *Store, by string, raw ...string) (us []weburl.URL) {
	t.Helper()
	for _, r := range raw {
		us = append(us, mustURL(t, r))
	}
	_, err := s.URLs().Claim(context.Background(), testJob, crawl.MessageID{}.Child(by, 0),
		storetest.Tasks(testJob, us...))
	must(t, err)
	return us
}

// soundStore holds a URL in each state.
func soundStore(t testing.TB) *Store {
	s, ctx := openStore(t, t.TempDir()), context.Background()
	us := claim(t, s, "a", "http://a.test/queued", "http://a.test/flying", "http://a.test/done", "http://b.test/buried")
	_, err := s.URLs().Exclude(ctx, testJob, crawl.MessageID{},
		[]crawl.Exclusion{{URL: mustURL(t, "http://c.test/"), Reason: "scope"}})
	must(t, err)
	must(t, s.Queues().Push(ctx, crawl.Queued{Queue: "back.1", Task: crawl.Task{Job: testJob, URL: us[0]}}))
	_, err = s.Journal().Append(ctx, bus.Message{Event: &crawl.Fresh{Tasks: []crawl.Task{{Job: testJob, URL: us[1]}}}})
	must(t, err)
	must(t, s.URLs().Finish(ctx, testJob, crawl.Entry{Key: us[2].Key(), Verdict: crawl.VerdictDone, Status: 200}))
	must(t, s.Pages().Put(ctx, &crawl.Record{URL: us[2], FinalURL: us[2]}))
	must(t, s.DeadLetters().Bury(ctx, bus.DeadLetter{Reason: "no", Message: bus.Message{
		Event: &crawl.Fetch{Task: crawl.Task{Job: testJob, URL: us[3]}}}}))
	return s
}

func TestAuditOfASoundStore(t *testing.T) {
	s := soundStore(t)
	got, err := s.Audit(context.Background())
	must(t, err)
	want := crawl.AuditReport{Claimed: 4, Done: 1, Excluded: 1, Open: 3, Queued: 1, InFlight: 1, Buried: 1, Pages: 1,
		DeadLetters: 1, PageBytes: got.FileBytes, FileBytes: got.FileBytes,
		Directory: &crawl.DirectoryAudit{PageURLs: 1, UnderWay: 1},
		Examples:  map[string][]string{"buried": got.Examples["buried"]}}
	if !reflect.DeepEqual(got, want) || got.FileBytes == 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAuditFindsWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	queued := func(s *Store, raw ...string) error {
		for _, r := range raw {
			err := s.Queues().Push(ctx, crawl.Queued{Queue: "back.2", Task: crawl.Task{Job: testJob, URL: mustURL(t, r)}})
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, c := range map[string]struct {
		harm  func(s *Store) error
		count func(r *crawl.AuditReport) int64
		fault string // empty: it is no fault
	}{
		"lost": {func(s *Store) error { claim(t, s, "b", "http://z.test/"); return nil },
			func(r *crawl.AuditReport) int64 { return r.Lost }, "lost"},
		"unclaimed, behind all entries": {func(s *Store) error { return queued(s, "http://0.test/", "http://q.test/") },
			func(r *crawl.AuditReport) int64 { return r.Unclaimed - 1 }, "never claimed"},
		"excluded but queued": {func(s *Store) error { return queued(s, "http://c.test/") },
			func(r *crawl.AuditReport) int64 { return r.Unclaimed }, "never claimed"},
		"as it was, which was never stored": {func(s *Store) error {
			u := claim(t, s, "c", "http://d.test/")[0]
			return s.URLs().Finish(ctx, testJob, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 304, Visit: 1})
		}, func(r *crawl.AuditReport) int64 { return r.Directory.Gone }, "record"},
		"doubled": {func(s *Store) error { return queued(s, "http://a.test/queued") },
			func(r *crawl.AuditReport) int64 { return r.Doubled }, ""},
		"stale": {func(s *Store) error { return queued(s, "http://a.test/done") },
			func(r *crawl.AuditReport) int64 { return r.Stale }, ""},
		"stray page": {func(s *Store) error {
			return s.Pages().Put(ctx, &crawl.Record{URL: mustURL(t, "http://stray.test/")})
		}, func(r *crawl.AuditReport) int64 { return r.StrayPages }, "nobody claimed"},
		"tally": {func(s *Store) error {
			return s.do(ctx, func(b *pebble.Batch) {
				_ = b.Set(append(appendJob(nil, kindTally, 0), countClaimed), []byte{2},
					nil)
			})
		}, func(r *crawl.AuditReport) int64 { return r.TallyOff }, "tally"},
		"short file": {func(s *Store) error { return s.pages.file.Truncate(s.pages.size.Load() - 1) },
			func(r *crawl.AuditReport) int64 { return r.PageBytes - r.FileBytes }, "pages.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			s := soundStore(t)
			must(t, c.harm(s))
			got, err := s.Audit(ctx)
			must(t, err)
			if c.count(&got) != 1 {
				t.Errorf("not counted once: %+v", got)
			}
			if c.fault == "" && len(got.Faults) > 0 || !strings.Contains(strings.Join(got.Faults, "\n"), c.fault) {
				t.Errorf("faults %q, want one with %q", got.Faults, c.fault)
			}
		})
	}
}

// TestSorterSpills compares marks merged from many files with those sorted in memory.
func TestSorterSpills(t *testing.T) {
	s, err := newSorter(t.TempDir(), rawMark)
	must(t, err)
	s.limit = 10
	rng := rand.New(rand.NewPCG(1, 1))
	want := map[mark]int{}
	for range 1003 {
		k := makeURLKey(jobNum(rng.IntN(2)), weburl.Key{byte(rng.IntN(50))})
		var m mark
		copy(m[:], k[:])
		m[urlKeyLen] = inQueue
		must(t, s.add(m))
		want[m]++
	}
	next, err := s.merged()
	must(t, err)
	var last mark
	for m, ok, err := next(); ok; m, ok, err = next() {
		must(t, err)
		if string(m[:]) < string(last[:]) {
			t.Fatalf("%x comes after %x", m, last)
		}
		last = m
		want[m]--
	}
	for m, n := range want {
		if n != 0 {
			t.Errorf("%x is off by %d", m, n)
		}
	}
	must(t, s.close())
}

func TestExamplesAreFew(t *testing.T) {
	s := openStore(t, t.TempDir())
	for i := range 3 * crawl.MaxExamples {
		claim(t, s, "a", fmt.Sprintf("http://a.test/%d", i))
	}
	got, err := s.Audit(context.Background())
	must(t, err)
	if got.Lost != 3*crawl.MaxExamples || len(got.Examples["lost"]) != crawl.MaxExamples {
		t.Errorf("%d lost, %d examples", got.Lost, len(got.Examples["lost"]))
	}
}
