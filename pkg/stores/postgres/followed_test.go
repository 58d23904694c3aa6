package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// submit gives the store a job that runs.
func submit(t *testing.T, s *postgres.Store, id crawl.JobID) {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds = id, []string{"http://a.test/"}
	check(t, s.Jobs().Put(context.Background(), &job))
}

// missing are the URLs that a node of its own misses, in the order of their text.
func missing(t *testing.T, s *postgres.Store, job crawl.JobID, before time.Time) (out []string) {
	t.Helper()
	check(t, s.Followed().Unfollowed(context.Background(), weburl.AllKeys(), before, func(task crawl.Task) error {
		if task.Job == job {
			out = append(out, task.URL.String())
		}
		return nil
	}))
	slices.Sort(out)
	return out
}

// The store sees the same outcomes as those that links follow as the domain does, whatever their kind, verdict and
// status.
func TestFollowedMissesWhatLinksFollow(t *testing.T) {
	ctx, s := context.Background(), open(t)
	submit(t, s, "job")
	var want []string
	var tasks []crawl.Task
	var entries []crawl.Entry
	n := 0
	for _, kind := range []crawl.Kind{crawl.KindPage, crawl.KindSitemap} {
		for _, verdict := range []crawl.Verdict{crawl.VerdictDone, crawl.VerdictGone, crawl.VerdictRefused,
			crawl.VerdictFailed} {
			for _, status := range []int{0, 200, 203, 204, 205, 299, 301, 304, 307, 399, 404} {
				u := mustParse(t, fmt.Sprintf("http://a.test/%03d", n))
				n++
				tasks = append(tasks, crawl.Task{Job: "job", URL: u, Kind: kind})
				entries = append(entries, crawl.Entry{Key: u.Key(), Kind: kind, Verdict: verdict, Status: status})
				if crawl.HasLinks(kind, verdict, status) {
					want = append(want, u.String())
				}
			}
		}
	}
	_, err := s.URLs().Claim(ctx, "job", id("one"), tasks)
	check(t, err)
	check(t, s.URLs().Finish(ctx, "job", entries...))
	if got := missing(t, s, "job", time.Now().Add(time.Hour)); !slices.Equal(got, want) || len(want) != 14 {
		t.Errorf("missing are\n%q, want\n%q", got, want)
	}
	if n, err := s.Followed().Waiting(ctx, "job"); n != int64(len(want)) || err != nil {
		t.Errorf("%d wait, error %v; want %d", n, err, len(want))
	}
}

func TestFollowedPages(t *testing.T) {
	ctx, s := context.Background(), open(t)
	submit(t, s, "job")
	f := s.Followed()
	u := manyURLs(t, 0, 6, 2)
	_, err := s.URLs().Claim(ctx, "job", id("one"), storetest.Tasks("job", u...))
	check(t, err)
	for _, u := range u[:5] { // the last is open
		check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
	}
	between := time.Now()
	want := func(when string, before time.Time, pages ...weburl.URL) {
		t.Helper()
		var texts []string
		for _, p := range pages {
			texts = append(texts, p.String())
		}
		if got := missing(t, s, "job", before); !slices.Equal(got, texts) {
			t.Errorf("%s: missing are %q, want %q", when, got, texts)
		}
	}
	slices.SortFunc(u[:5], func(a, b weburl.URL) int { return slices.Compare([]byte(a.String()), []byte(b.String())) })
	want("nothing is claimed", time.Now(), u[:5]...)
	for range 2 { // a message may come twice
		check(t, f.Claimed(ctx, "job", u[0], crawl.Share{Of: 1}))
		check(t, f.Claimed(ctx, "job", u[5], crawl.Share{Of: 1})) // before its outcome
	}
	check(t, f.Claimed(ctx, "another", u[1], crawl.Share{Of: 1}))
	want("one is claimed", between, u[1:5]...)
	check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: u[5].Key(), Verdict: crawl.VerdictDone, Status: 301}))
	want("claimed before the outcome", time.Now(), u[1:5]...)
	check(t, s.URLs().Reopen(ctx, "job", u[1].Key()))
	want("one is taken back", time.Now(), u[2:5]...)
	check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: u[1].Key(), Verdict: crawl.VerdictDone, Status: 200}))
	want("and fetched again", between, u[2:5]...)
	want("and fetched again, a moment later", time.Now(), u[1:5]...)
	check(t, s.Jobs().SetState(ctx, "job", crawl.JobPaused))
	want("a job that does not go on", time.Now())
	check(t, s.Jobs().SetState(ctx, "job", crawl.JobRunning))
	check(t, f.Elsewhere(ctx))
	want("a ring followed them", time.Now().Add(time.Minute))
}

// Robots.txt files are in no ledger: they are expected.
func TestFollowedRobots(t *testing.T) {
	ctx, s := context.Background(), open(t)
	submit(t, s, "job")
	f := s.Followed()
	robots := crawl.Task{Job: "job", URL: mustParse(t, "http://a.test/robots.txt"), Kind: crawl.KindRobots,
		For: "http://a.test", Tracked: true}
	moved := robots
	moved.URL = mustParse(t, "http://b.test/rules")
	page := crawl.Task{Job: "job", URL: mustParse(t, "http://a.test/")}
	check(t, f.Claimed(ctx, "job", moved.URL, crawl.Share{Of: 1})) // its message was faster
	check(t, f.Expect(ctx, robots, page, moved))
	want := robots
	want.Repeat = true
	var got []crawl.Task
	check(t, f.Unfollowed(ctx, weburl.AllKeys(), time.Now(), func(task crawl.Task) error {
		got = append(got, task)
		return nil
	}))
	if !slices.Equal(got, []crawl.Task{want}) {
		t.Errorf("unfollowed are %+v, want %+v", got, want)
	}
	check(t, f.Claimed(ctx, "job", robots.URL, crawl.Share{Of: 1}))
	if n, err := f.Waiting(ctx, "job"); n != 0 || err != nil {
		t.Errorf("%d wait, error %v", n, err)
	}
}

func TestCountAgainMakesTheCountersThoseOfTheRows(t *testing.T) {
	ctx, s := context.Background(), open(t)
	u := manyURLs(t, 0, 3, 2)
	_, err := s.URLs().Claim(ctx, "job", id("one"), storetest.Tasks("job", u...))
	check(t, err)
	check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: u[0].Key(), Verdict: crawl.VerdictDone, Status: 200}))
	right, err := s.URLs().Tally(ctx, "job")
	check(t, err)
	execute(t, sharedDatabase(t), `UPDATE tallies SET n = n + 7`)
	check(t, s.URLs().CountAgain(ctx, "job"))
	got, err := s.URLs().Tally(ctx, "job")
	if check(t, err); fmt.Sprint(got) != fmt.Sprint(right) {
		t.Errorf("tally %+v, want %+v", got, right)
	}
}
