package storetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// EntrySet is a list of entries, with the ledger and the URL set that make them.
type EntrySet interface {
	LedgerSet
	crawl.EntryList
}

// EntryList checks the promises of crawl.EntryList. Each subtest gets stores of its own.
func EntryList(t *testing.T, open func(t *testing.T) EntrySet) {
	t.Run("pages of any size make the whole list, in order", func(t *testing.T) { entriesWhole(t, open(t)) })
	t.Run("an entry is what the ledger says", func(t *testing.T) { entriesSame(t, open(t)) })
	t.Run("other jobs have lists of their own", func(t *testing.T) { entriesOfJob(t, open(t)) })
}

// pagesOf reads a list by pages and returns the keys.
func pagesOf(t *testing.T, limit int, page func(after weburl.Key) []weburl.Key) (all []weburl.Key) {
	t.Helper()
	for after := (weburl.Key{}); ; after = all[len(all)-1] {
		keys := page(after)
		if all = append(all, keys...); len(keys) > limit {
			t.Fatalf("a page of %d, want at most %d", len(keys), limit)
		}
		if len(keys) < limit || len(all) == 0 {
			return all
		}
	}
}

func sortedKeys(u []weburl.URL) []weburl.Key {
	var keys []weburl.Key
	for _, u := range u {
		keys = append(keys, u.Key())
	}
	slices.SortFunc(keys, func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) })
	return keys
}

func entryKeys(t *testing.T, l crawl.EntryList, id crawl.JobID, limit int) []weburl.Key {
	return pagesOf(t, limit, func(after weburl.Key) (keys []weburl.Key) {
		rows, err := l.EntriesAfter(context.Background(), id, after, limit)
		check(t, err)
		for _, r := range rows {
			keys = append(keys, r.Key)
		}
		return keys
	})
}

func entriesWhole(t *testing.T, l EntrySet) {
	u := manyURLs(t, 60, 7)
	_, err := l.Claim(context.Background(), job, id("one"), tasks(u))
	check(t, err)
	for _, limit := range []int{1, 7, 30, 60, 61, 1000} {
		if got := entryKeys(t, l, job, limit); !slices.Equal(got, sortedKeys(u)) {
			t.Errorf("by %d: %d entries, want %d in order", limit, len(got), len(u))
		}
	}
}

func entriesSame(t *testing.T, l EntrySet) {
	u := urls(t, "http://a.test/open", "http://a.test/done", "http://a.test/out", "http://b.test/unclaimed")
	ctx := context.Background()
	_, err := l.Claim(ctx, job, id("one"), tasks(u[:2]))
	check(t, err)
	_, err = l.Exclude(ctx, job, id("one"), []crawl.Exclusion{{URL: u[2], Reason: crawl.ReasonScope}})
	check(t, err)
	check(t, l.Finish(ctx, job, done(u[1], 404), done(u[3], 200)))
	rows, err := l.EntriesAfter(ctx, job, weburl.Key{}, 10)
	check(t, err)
	if len(rows) != len(u) {
		t.Fatalf("%d entries, want %d: %+v", len(rows), len(u), rows)
	}
	for _, r := range rows {
		want, err := l.Lookup(ctx, job, r.Key)
		check(t, err)
		got := r.Entry
		if !sameTime(got.At, want[0].At) {
			t.Errorf("%v: at %v, want %v", r.URL, got.At, want[0].At)
		}
		got.At = want[0].At
		if got != want[0] || !r.URL.IsZero() && r.URL.Key() != r.Key {
			t.Errorf("got  %+v\nwant %+v", r, want[0])
		}
	}
}

func entriesOfJob(t *testing.T, l EntrySet) {
	u := manyURLs(t, 9, 3)
	ctx := context.Background()
	_, err := l.Claim(ctx, job, id("one"), tasks(u[:5]))
	check(t, err)
	_, err = l.Claim(ctx, "another", id("two"), Tasks("another", u[3:]...))
	check(t, err)
	for of, want := range map[crawl.JobID][]weburl.URL{job: u[:5], "another": u[3:], "nobody": nil} {
		if got := entryKeys(t, l, of, 2); !slices.Equal(got, sortedKeys(want)) {
			t.Errorf("job %q: %d entries, want %d", of, len(got), len(want))
		}
	}
}

// LogSet is a log that is written and read.
type LogSet interface {
	crawl.AttemptLog
	crawl.LogList
}

// LogList checks the promises of crawl.LogList. Each subtest gets a log of its own.
func LogList(t *testing.T, open func(t *testing.T) LogSet) {
	t.Run("pages of any size make the whole log, in order", func(t *testing.T) { logWhole(t, open(t)) })
	t.Run("the lines about a URL are told by pages", func(t *testing.T) { logOfURL(t, open(t)) })
	t.Run("a reader at the end goes on where new lines are", func(t *testing.T) { logGoesOn(t, open(t)) })
	t.Run("an offset that nobody gave is no fault", func(t *testing.T) { logOffsets(t, open(t)) })
}

// aLog writes n lines about three URLs; the attempt numbers them.
func aLog(t *testing.T, l crawl.AttemptLog, from, n int) []weburl.URL {
	t.Helper()
	u := urls(t, "http://a.test/1", "http://a.test/1?quote=%22&x", "http://b.test/")
	for i := from; i < from+n; i++ {
		check(t, l.Append(context.Background(),
			crawl.LogLine{Job: job, At: aTime.Add(time.Duration(i) * time.Second), URL: u[i%3],
				Verdict: crawl.VerdictDone, Status: 200, Attempt: i + 1}))
	}
	return u
}

// attemptsOf reads a log by pages and returns the attempts' numbers, and where it ended.
func attemptsOf(t *testing.T, limit int, from int64,
	page func(from int64) ([]crawl.LogLine, int64, error)) (numbers []int, next int64) {
	t.Helper()
	for {
		lines, next, err := page(from)
		check(t, err)
		for _, l := range lines {
			if l.Job != job {
				t.Fatalf("a line of job %q", l.Job)
			}
			numbers = append(numbers, l.Attempt)
		}
		if len(lines) > limit || next < from || len(lines) > 0 && next == from {
			t.Fatalf("a page of %d from %d on leads to %d", len(lines), from, next)
		}
		if from = next; len(lines) < limit {
			return numbers, next
		}
	}
}

func numbered(from, to, step int) (out []int) {
	for i := from; i < to; i += step {
		out = append(out, i+1)
	}
	return out
}

func logWhole(t *testing.T, l LogSet) {
	aLog(t, l, 0, 40)
	for _, limit := range []int{1, 7, 40, 41, 1000} {
		got, _ := attemptsOf(t, limit, 0, func(from int64) ([]crawl.LogLine, int64, error) {
			return l.LinesFrom(context.Background(), job, from, limit)
		})
		if !slices.Equal(got, numbered(0, 40, 1)) {
			t.Errorf("by %d: %v", limit, got)
		}
	}
}

func logOfURL(t *testing.T, l LogSet) {
	for i, u := range aLog(t, l, 0, 40) {
		for _, limit := range []int{1, 4, 100} {
			got, _ := attemptsOf(t, limit, 0, func(from int64) ([]crawl.LogLine, int64, error) {
				return l.AttemptsFrom(context.Background(), job, u, from, limit)
			})
			if !slices.Equal(got, numbered(i, 40, 3)) {
				t.Errorf("%s by %d: %v", u, limit, got)
			}
		}
	}
}

func logGoesOn(t *testing.T, l LogSet) {
	u := aLog(t, l, 0, 10)
	all := func(from int64) ([]crawl.LogLine, int64, error) {
		return l.LinesFrom(context.Background(), job, from, 4)
	}
	one := func(from int64) ([]crawl.LogLine, int64, error) {
		return l.AttemptsFrom(context.Background(), job, u[0], from, 4)
	}
	_, end := attemptsOf(t, 4, 0, all)
	_, endOfOne := attemptsOf(t, 4, 0, one)
	if got, next := attemptsOf(t, 4, end, all); len(got) > 0 || next != end {
		t.Errorf("behind the end: %v, next %d, want %d", got, next, end)
	}
	aLog(t, l, 10, 10)
	if got, _ := attemptsOf(t, 4, end, all); !slices.Equal(got, numbered(10, 20, 1)) {
		t.Errorf("new lines: %v", got)
	}
	if got, _ := attemptsOf(t, 4, endOfOne, one); !slices.Equal(got, numbered(12, 20, 3)) {
		t.Errorf("new lines about %s: %v", u[0], got)
	}
}

func logOffsets(t *testing.T, l LogSet) {
	aLog(t, l, 0, 5)
	ctx := context.Background()
	for from, least := range map[int64]int{-1: 5, 3: 0, 1 << 40: 0} {
		lines, _, err := l.LinesFrom(ctx, job, from, 10)
		if err != nil || len(lines) < least || from > 1<<30 && len(lines) > 0 {
			t.Errorf("from %d on: %d lines, error %v", from, len(lines), err)
		}
	}
}

// RecordList checks the promises of crawl.RecordList. Each subtest gets stores of its own.
func RecordList(t *testing.T, open func(t *testing.T) (crawl.Pages, crawl.RecordList)) {
	t.Run("pages of any size make the whole list, in order", func(t *testing.T) {
		p, l := open(t)
		u := manyURLs(t, 60, 7)
		for i, u := range u {
			check(t, p.Put(context.Background(), &crawl.Record{URL: u, FinalURL: u, Title: fmt.Sprint(i)}))
		}
		for _, limit := range []int{1, 7, 30, 60, 61, 1000} {
			got := pagesOf(t, limit, func(after weburl.Key) (keys []weburl.Key) {
				list, err := l.RecordsAfter(context.Background(), after, limit)
				check(t, err)
				for _, r := range list {
					if i := slices.Index(u, r.URL); i < 0 || r.Title != fmt.Sprint(i) {
						t.Errorf("record %+v", r)
					}
					keys = append(keys, r.URL.Key())
				}
				return keys
			})
			if !slices.Equal(got, sortedKeys(u)) {
				t.Errorf("by %d: %d records, want %d in order", limit, len(got), len(u))
			}
		}
	})
	t.Run("where nothing is stored the list is empty", func(t *testing.T) {
		_, l := open(t)
		if list, err := l.RecordsAfter(context.Background(), weburl.Key{}, 5); len(list) > 0 || err != nil {
			t.Errorf("%d records, error %v", len(list), err)
		}
	})
}
