package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestLinesOfAJobsLog(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 4, 2)
	line := func(i int, v crawl.Verdict, reason string) crawl.LogLine {
		return crawl.LogLine{Job: "job", URL: u[i], At: time.Unix(int64(1000+i), 0), Verdict: v, Reason: reason,
			Status: []int{200, 0, 0, 404}[i]}
	}
	check(t, s.AttemptLog().Append(ctx, line(0, crawl.VerdictDone, ""), line(1, crawl.VerdictExcluded, crawl.ReasonScope),
		line(2, crawl.VerdictExcluded, crawl.ReasonDepth), line(3, crawl.VerdictFailed, crawl.ReasonTimeout)))
	other := line(0, crawl.VerdictFailed, crawl.ReasonTimeout)
	other.Job = "other"
	check(t, s.AttemptLog().Append(ctx, other))
	for name, tc := range map[string]struct {
		job  crawl.JobID
		s    crawl.LogSelection
		want []int
	}{
		"all":          {"job", crawl.LogSelection{}, []int{0, 1, 2, 3}},
		"of a verdict": {"job", crawl.LogSelection{Verdicts: []crawl.Verdict{crawl.VerdictExcluded}}, []int{1, 2}},
		"of two verdicts": {"job", crawl.LogSelection{Verdicts: []crawl.Verdict{crawl.VerdictDone, crawl.VerdictFailed}},
			[]int{0, 3}},
		"for a reason": {"job", crawl.LogSelection{Reasons: []string{crawl.ReasonDepth}}, []int{2}},
		"for none":     {"job", crawl.LogSelection{Reasons: []string{""}}, []int{0}},
		"of both, neither": {"job", crawl.LogSelection{Verdicts: []crawl.Verdict{crawl.VerdictDone},
			Reasons: []string{crawl.ReasonDepth}}, nil},
		"of a host":       {"job", crawl.LogSelection{Hosts: []string{u[2].HostKey()}}, ofHost(u, u[2].HostKey())},
		"since and until": {"job", crawl.LogSelection{Since: time.Unix(1001, 0), Until: time.Unix(1003, 0)}, []int{1, 2}},
		"a part of a URL": {"job", crawl.LogSelection{URL: u[1].String()}, []int{1}},
		"with a status":   {"job", crawl.LogSelection{Statuses: []int{404}}, []int{3}},
		"of a class":      {"job", crawl.LogSelection{Statuses: []int{4, 200}}, []int{0, 3}},
		"unknown job":     {"unknown", crawl.LogSelection{}, nil},
	} {
		var got []int
		check(t, s.AttemptLog().Lines(ctx, tc.job, tc.s, 0, func(l *crawl.LogLine, _ int64) error {
			got = append(got, slices.Index(u, l.URL))
			if l.Job != tc.job {
				t.Errorf("%s: the line is of job %q", name, l.Job)
			}
			return nil
		}))
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: lines of URLs %v, want %v", name, got, tc.want)
		}
	}
}

func ofHost(u []weburl.URL, host string) (list []int) {
	for i := range u {
		if u[i].HostKey() == host {
			list = append(list, i)
		}
	}
	return list
}

func TestReasonsAndWhatEndedByThem(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 5, 2)
	var tasks []crawl.Task
	for i := range u[:4] {
		tasks = append(tasks, crawl.Task{Job: "job", URL: u[i], Depth: i, Referrer: u[0]})
	}
	if _, err := s.URLs().Claim(ctx, "job", id("one"), tasks); err != nil {
		t.Fatal(err)
	}
	if _, err := s.URLs().Exclude(ctx, "job", id("one"),
		[]crawl.Exclusion{{URL: u[4], Reason: crawl.ReasonScope}}); err != nil {
		t.Fatal(err)
	}
	end := func(i int, v crawl.Verdict, reason string) crawl.Entry {
		return crawl.Entry{Key: u[i].Key(), Verdict: v, Reason: reason}
	}
	check(t, s.URLs().Finish(ctx, "job", end(0, crawl.VerdictDone, ""),
		end(1, crawl.VerdictRefused, crawl.ReasonMediaType), end(2, crawl.VerdictRefused, crawl.ReasonPrivateAddress)))
	got, err := s.URLs().Reasons(ctx, "job")
	check(t, err)
	want := []postgres.Why{{Verdict: crawl.VerdictDone, URLs: 1},
		{Verdict: crawl.VerdictRefused, Reason: crawl.ReasonMediaType, URLs: 1},
		{Verdict: crawl.VerdictRefused, Reason: crawl.ReasonPrivateAddress, URLs: 1},
		{Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonScope, URLs: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var again []crawl.Task
	check(t, s.URLs().Settled(ctx, "job", []crawl.Verdict{crawl.VerdictRefused}, []string{crawl.ReasonPrivateAddress},
		func(t crawl.Task) error {
			again = append(again, t)
			return nil
		}))
	if len(again) != 1 || again[0].URL != u[2] || again[0].Depth != 2 || again[0].Referrer != u[0] || !again[0].Repeat {
		t.Errorf("got %+v, want the task of %s as it was claimed", again, u[2])
	}
}

// A log that is followed gives each line once, also one whose transaction ends after those of later lines.
func TestALateLineOfALogThatIsFollowed(t *testing.T) {
	s, ctx := open(t), t.Context()
	u := manyURLs(t, 0, 4, 1)
	write := func(i int) {
		check(t, s.AttemptLog().Append(ctx,
			crawl.LogLine{Job: "job", URL: u[i], At: time.Unix(int64(1000+i), 0), Verdict: crawl.VerdictDone, Status: 200}))
	}
	write(0)
	db, err := pgx.Connect(ctx, sharedDatabase(t))
	check(t, err)
	t.Cleanup(func() { check(t, db.Close(context.Background())) })
	late, err := db.Begin(ctx)
	check(t, err)
	_, err = late.Exec(ctx, `INSERT INTO attempts SELECT * FROM attempts`)
	check(t, err)
	_, err = late.Exec(ctx, `UPDATE attempts SET url = $1 WHERE xmin::text = pg_current_xact_id()::xid::text`,
		u[3].String())
	check(t, err)

	following, stop := context.WithCancel(ctx)
	lines, ended := make(chan weburl.URL), make(chan error, 1)
	go func() {
		ended <- s.AttemptLog().Follow(following, "job", crawl.LogSelection{}, 0, time.Millisecond,
			func(l *crawl.LogLine, _ int64) error {
				lines <- l.URL
				return nil
			})
	}()
	next := func(want weburl.URL) {
		t.Helper()
		select {
		case got := <-lines:
			if got != want {
				t.Errorf("line of %s, want that of %s", got, want)
			}
		case <-time.After(10 * time.Minute):
			t.Fatalf("no line of %s", want)
		}
	}
	next(u[0])
	for i := 1; i < 3; i++ { // each is seen by a look that does not see the late one
		write(i)
		next(u[i])
	}
	check(t, late.Commit(ctx))
	next(u[3])
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
