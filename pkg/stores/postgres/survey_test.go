package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A survey meets each URL that has no outcome, and each that was left out, once, and no other; of another job none. A
// part is chosen by hash, and an error ends it.
func TestASurveyMeetsEachURLOnce(t *testing.T) {
	s, ctx := open(t), context.Background()
	const queued, finished, left = 300, 100, 2300 // more than are read at once
	u := manyURLs(t, 0, queued+finished+left, 9)
	_, err := s.URLs().Claim(ctx, "job", id("claim"), storetest.Tasks("job", u[:queued+finished]...))
	check(t, err)
	for _, done := range u[queued : queued+finished] {
		check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: done.Key(), Verdict: crawl.VerdictDone, Status: 200}))
	}
	var out []crawl.Exclusion
	for _, x := range u[queued+finished:] {
		out = append(out, crawl.Exclusion{URL: x, Reason: crawl.ReasonExclude, Depth: 2, Epoch: 1})
	}
	_, err = s.URLs().Exclude(ctx, "job", id("exclude"), out)
	check(t, err)
	walks := map[string]func(crawl.JobID, func(uint64) bool, func(weburl.URL) error) error{
		"queued": func(job crawl.JobID, pick func(uint64) bool, each func(weburl.URL) error) error {
			return s.URLs().EachQueued(ctx, job, pick, func(task *crawl.Task) error { return each(task.URL) })
		},
		"left out": func(job crawl.JobID, pick func(uint64) bool, each func(weburl.URL) error) error {
			return s.URLs().EachLeftOut(ctx, job, pick, func(l *crawl.LeftOut) error { return each(l.Task.URL) })
		},
	}
	for name, want := range map[string][]weburl.URL{"queued": u[:queued], "left out": u[queued+finished:]} {
		walk, met := walks[name], map[string]int{}
		check(t, walk("job", nil, func(u weburl.URL) error { met[u.String()]++; return nil }))
		for _, u := range want {
			if met[u.String()] != 1 {
				t.Fatalf("%s: %s was met %d times", name, u, met[u.String()])
			}
		}
		half := 0
		check(t, walk("job", func(hash uint64) bool { return hash%2 == 0 }, func(weburl.URL) error { half++; return nil }))
		if n := len(want); len(met) != n || half < n/3 || half > n*2/3 {
			t.Errorf("%s: %d were met, want %d; by halves %d", name, len(met), n, half)
		}
		enough, n := errors.New("enough"), 0
		if err := walk("job", nil, func(weburl.URL) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
			t.Errorf("%s: the walk went on: %v, %d", name, err, n)
		}
		check(t, walk("unknown", nil, func(weburl.URL) error { return fmt.Errorf("%s of no job", name) }))
	}
}

// Where a log ends there is no line, and before that there are all.
func TestTheEndOfALog(t *testing.T) {
	s, ctx := open(t), context.Background()
	end, err := s.AttemptLog().End(ctx, "job")
	check(t, err)
	if none, _, err := s.AttemptLog().LinesFrom(ctx, "job", 0, 10); err != nil || len(none) > 0 {
		t.Errorf("an empty log, which ends at %d, has %d lines: %v", end, len(none), err)
	}
	lines := make([]crawl.LogLine, 500)
	for i, u := range manyURLs(t, 0, len(lines), 7) {
		lines[i] = crawl.LogLine{Job: "job", URL: u, Attempt: i}
	}
	check(t, s.AttemptLog().Append(ctx, lines...))
	end, err = s.AttemptLog().End(ctx, "job")
	check(t, err)
	after, _, err := s.AttemptLog().LinesFrom(ctx, "job", end, 10)
	check(t, err)
	all, next, err := s.AttemptLog().LinesFrom(ctx, "job", 0, 1000)
	check(t, err)
	if len(after) != 0 || len(all) != len(lines) || next > end {
		t.Errorf("%d lines behind the end at %d, %d before it, up to %d", len(after), end, len(all), next)
	}
}
