package postgres_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func aJob(id crawl.JobID) *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Seeds, j.Include = id, []string{"http://a.test/"}, []string{"\x00|a+"}
	j.Rules = []crawl.SiteRule{{Name: "r", Fields: []crawl.FieldRule{{Name: "f", CSS: "h1"}},
		Links: []crawl.LinkWeight{{Match: "x", Weight: 3}}}}
	return &j
}

func TestJobsComeBackAsTheyWereSubmitted(t *testing.T) {
	s, ctx := open(t), context.Background()
	if _, err := s.Jobs().Job(ctx, "one"); !crawl.IsPermanent(err) {
		t.Errorf("a job never submitted: error %v, want a permanent one", err)
	}
	want := aJob("one")
	check(t, s.Jobs().Put(ctx, want))
	got, err := s.Jobs().Job(ctx, "one")
	check(t, err)
	if want.Epoch = 1; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	again := *want
	again.MaxPages = 7
	check(t, s.Jobs().Put(ctx, &again))
	if got, err = s.Jobs().Job(ctx, "one"); err != nil || got.MaxPages != 7 {
		t.Errorf("submitted again: %+v, error %v", got, err)
	}
	if err := s.Jobs().Put(ctx, &crawl.Job{ID: "bad id"}); !crawl.IsPermanent(err) {
		t.Errorf("a bad job: error %v, want a permanent one", err)
	}
}

func TestJobsHaveStates(t *testing.T) {
	s, ctx := open(t), context.Background()
	jobs := s.Jobs()
	check(t, jobs.Put(ctx, aJob("states")))
	wantState := func(want crawl.JobState) {
		t.Helper()
		info, err := jobs.Info(ctx, "states")
		check(t, err)
		over := want == crawl.JobStopped || want == crawl.JobEnded
		if info.State != want || info.Ended.IsZero() == over || info.Created.IsZero() || info.Number == 0 {
			t.Errorf("got %+v, want the state %s", info, want)
		}
	}
	wantState(crawl.JobRunning)
	for _, state := range []crawl.JobState{crawl.JobPaused, crawl.JobRunning, crawl.JobStopped, crawl.JobEnded,
		crawl.JobRunning} {
		check(t, jobs.SetState(ctx, "states", state))
		wantState(state)
	}
	if err := jobs.SetState(ctx, "states", "asleep"); !crawl.IsPermanent(err) {
		t.Errorf("a state that there is not: error %v", err)
	}
	if err := jobs.SetState(ctx, "nobody", crawl.JobPaused); !crawl.IsPermanent(err) {
		t.Errorf("a job that there is not: error %v", err)
	}
	turn := func(epoch uint32, to crawl.JobState, from ...crawl.JobState) bool {
		done, err := jobs.Turn(ctx, "states", epoch, to, from...)
		check(t, err)
		return done
	}
	if turn(0, crawl.JobEnded, crawl.JobPaused) || turn(2, crawl.JobEnded, crawl.JobRunning) {
		t.Error("it has another state though it was in none of those, or at another epoch")
	}
	wantState(crawl.JobRunning)
	if !turn(1, crawl.JobEnded, crawl.JobPaused, crawl.JobRunning) {
		t.Error("it keeps its state though it was in one of those")
	}
	wantState(crawl.JobEnded)
	list, err := jobs.List(ctx)
	check(t, err)
	found := 0
	for i, info := range list {
		if info.ID == "states" && info.Job != nil {
			found++
		}
		if i > 0 && list[i-1].Number >= info.Number {
			t.Error("the list is out of order")
		}
	}
	if found != 1 {
		t.Errorf("the list has the job %d times", found)
	}
}

// Another program's change is seen when the specification has expired.
func TestASubmittedChangeReachesOtherPrograms(t *testing.T) {
	url := sharedDatabase(t)
	s, ctx := open(t), context.Background()
	cfg := config(url)
	cfg.JobExpiry = 0
	other, err := postgres.Open(ctx, cfg)
	check(t, err)
	defer other.Close()
	j := aJob("changes")
	for pages := range 3 {
		j.MaxPages = pages
		check(t, s.Jobs().Put(ctx, j))
		if got, err := other.Jobs().Job(ctx, "changes"); err != nil || got.MaxPages != pages {
			t.Errorf("got %+v, error %v; want max_pages %d", got, err, pages)
		}
	}
}

func TestBudgetsHoldAcrossPrograms(t *testing.T) {
	url := sharedDatabase(t)
	open(t)
	ctx := context.Background()
	const limit = 1000
	var granted atomic.Int64
	var stores []*postgres.Store
	var wg sync.WaitGroup
	for range 3 {
		s, err := postgres.Open(ctx, config(url))
		check(t, err)
		stores = append(stores, s)
		for range 4 {
			wg.Go(func() {
				for range limit {
					n, err := s.Budgets().Spend(ctx, job, "host", 1, limit)
					if err != nil {
						t.Error(err)
						return
					}
					granted.Add(int64(n))
				}
			})
		}
	}
	wg.Wait()
	for _, s := range stores {
		s.Close()
	}
	if n := granted.Load(); n > limit || n < limit*9/10 {
		t.Errorf("granted %d of %d", n, limit)
	}
	if spent := ask[int64](t, url, "SELECT spent FROM budgets"); spent != granted.Load() {
		t.Errorf("the database says %d are spent, %d were", spent, granted.Load())
	}
	s := openAt(t, url)
	rest, err := s.Budgets().Spend(ctx, job, "host", limit, limit)
	check(t, err)
	if granted.Load()+int64(rest) != limit {
		t.Errorf("granted %d and then %d, want %d together", granted.Load(), rest, limit)
	}
}

// A budget is asked for once an URL: it must not cost a round trip each.
func TestBudgetsAreTakenSeveralAtATime(t *testing.T) {
	url := sharedDatabase(t)
	s, ctx := open(t), context.Background()
	for i := range 200 {
		if n, err := s.Budgets().Spend(ctx, job, fmt.Sprint("host", i%2), 1, 10_000); n != 1 || err != nil {
			t.Fatalf("granted %d, error %v", n, err)
		}
	}
	if lease := ask[int64](t, url, "SELECT max(lease) FROM budgets"); lease < 50 {
		t.Errorf("%d were taken at once, want 50 or more", lease)
	}
}
