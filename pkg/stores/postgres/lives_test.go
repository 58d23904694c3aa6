package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func mortal(t *testing.T) *crawl.Job {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "mortal", []string{"http://a.test/"}
	return &job
}

func submitJob(t *testing.T, s *postgres.Store, job *crawl.Job) *crawl.Job {
	t.Helper()
	current, _, err := s.Jobs().AddRevision(context.Background(), job)
	check(t, err)
	return current
}

// A deleted job leaves no data, and a new job of the same id starts empty. Other programs notice when they next look.
func TestADeletedJobBeginsAnew(t *testing.T) {
	ctx, url := context.Background(), newDatabase(t)
	cfg := config(url)
	cfg.JobExpiry = 0
	open := func() *postgres.Store {
		s, err := postgres.Open(ctx, cfg)
		check(t, err)
		t.Cleanup(s.Close)
		return s
	}
	s, other := open(), open()
	job := mortal(t)
	if first := submitJob(t, s, job); first.Epoch != 1 || first.First != 0 {
		t.Fatalf("first life: epoch %d, begun at %d", first.Epoch, first.First)
	}
	urls := manyURLs(t, 0, 9, 2)
	claim := func(s *postgres.Store, by string) ([]crawl.Claimed, error) {
		return s.URLs().Claim(ctx, job.ID, id(by), storetest.Tasks(job.ID, urls...))
	}
	_, err := claim(s, "one")
	check(t, err)
	_, err = s.Budgets().Spend(ctx, job.ID, "host a", 5, 6)
	check(t, err)
	check(t, other.AttemptLog().Append(ctx, crawl.LogLine{Job: job.ID, URL: urls[0], Verdict: crawl.VerdictDone}))

	_, err = s.Jobs().BeginDelete(ctx, job.ID)
	check(t, err)
	for name, late := range map[string]func() error{
		"JobAt": func() error { _, err := other.Jobs().JobAt(ctx, job.ID, 1); return err },
		"Job":   func() error { _, err := other.Jobs().Job(ctx, job.ID); return err },
		"Claim": func() error { _, err := claim(other, "two"); return err },
		"Spend": func() error { _, err := other.Budgets().Spend(ctx, job.ID, "host a", 1, 6); return err },
		"Life":  func() error { _, err := other.Jobs().Life(ctx, job.ID); return err },
	} {
		if err := late(); !errors.Is(err, crawl.ErrDiscarded) || crawl.IsPermanent(err) {
			t.Errorf("%s of a job that is being deleted: error %v", name, err)
		}
	}
	check(t, other.AttemptLog().Append(ctx, crawl.LogLine{Job: job.ID, URL: urls[0], Verdict: crawl.VerdictDone}))
	if _, _, err := s.Jobs().AddRevision(ctx, job); !crawl.IsPermanent(err) {
		t.Errorf("a job whose deletion has not ended was submitted: %v", err)
	}
	erased, err := s.Jobs().Erase(ctx, job.ID)
	check(t, err)
	rows := map[string]int64{}
	for _, e := range erased {
		rows[e.Table] = e.Rows
	}
	if rows["urls"] != int64(len(urls)) || rows["attempts"] != 1 || rows["budgets"] != 1 || rows["job_revisions"] != 1 ||
		rows["tallies"] == 0 {
		t.Errorf("erased %v", erased)
	}
	if list, err := s.Jobs().List(ctx); err != nil || len(list) != 0 {
		t.Errorf("it is listed: %v, %v", list, err)
	}

	next := submitJob(t, s, job)
	if next.Epoch != 2 || next.First != 2 {
		t.Errorf("second life: epoch %d, begun at %d; want 2", next.Epoch, next.First)
	}
	if _, err := other.Jobs().JobAt(ctx, job.ID, 1); !errors.Is(err, crawl.ErrDiscarded) {
		t.Errorf("the first life's revision: %v", err)
	}
	if got, err := other.Jobs().JobAt(ctx, job.ID, 2); err != nil || got.First != 2 {
		t.Errorf("the second life's revision: %v, %v", got, err)
	}
	if _, err := claim(other, "three"); !errors.Is(err, crawl.ErrDiscarded) {
		t.Errorf("URLs that the first life found were claimed for the second: %v", err)
	}
	late := []crawl.Exclusion{{URL: urls[0], Reason: crawl.ReasonScope, Epoch: 1}}
	if _, err := other.URLs().Exclude(ctx, job.ID, id("four"), late); !errors.Is(err, crawl.ErrDiscarded) {
		t.Errorf("what the first life left out was left out of the second: %v", err)
	}
	tasks := storetest.Tasks(job.ID, urls...)
	for i := range tasks {
		tasks[i].Epoch = next.Epoch
	}
	got, err := other.URLs().Claim(ctx, job.ID, id("three"), tasks)
	check(t, err)
	for i := range got {
		if got[i] != crawl.New {
			t.Errorf("%s: %v, want it new", urls[i], got[i])
		}
	}
	if n, err := s.Budgets().Spend(ctx, job.ID, "host a", 6, 6); n != 6 || err != nil {
		t.Errorf("the second life may spend %d, %v; want all 6", n, err)
	}
}

// A deletion that was interrupted goes on when it is repeated.
func TestAnInterruptedDeletionGoesOn(t *testing.T) {
	ctx, url := context.Background(), newDatabase(t)
	s, job := openAt(t, url), mortal(t)
	submitJob(t, s, job)
	if _, err := s.Jobs().Erase(ctx, job.ID); !crawl.IsPermanent(err) {
		t.Errorf("erased before its deletion began: %v", err)
	}
	first, err := s.Jobs().BeginDelete(ctx, job.ID)
	check(t, err)
	again, err := s.Jobs().BeginDelete(ctx, job.ID)
	if check(t, err); again <= first {
		t.Errorf("begun %v ago, and then %v ago", first, again)
	}
	_, err = s.Jobs().Erase(ctx, job.ID)
	check(t, err)
	if _, err := s.Jobs().BeginDelete(ctx, job.ID); !crawl.IsPermanent(err) {
		t.Errorf("deleted twice: %v", err)
	}
}
