package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A handler hangs while its job is deleted and submitted again. Whatever it writes then, when it goes on, is not stored
// for the life that has begun. A handler of that life writes all of it: the control.
func TestLateWritesOfAFormerLifeAreRefused(t *testing.T) {
	ctx := context.Background()
	cfg := config(newDatabase(t))
	cfg.JobExpiry = 0
	s, err := postgres.Open(ctx, cfg)
	check(t, err)
	t.Cleanup(s.Close)
	job := mortal(t)
	submitJob(t, s, job)
	hung := crawl.Under(ctx, &crawl.Page{Task: crawl.Task{Job: job.ID}}) // tasks of the first revision do not say so
	if n, err := s.Jobs().RecordLife(hung, job.ID); n != 0 || err != nil {
		t.Errorf("records of the first life are under %d, %v", n, err)
	}
	_, err = s.Jobs().BeginDelete(ctx, job.ID)
	check(t, err)
	_, err = s.Jobs().Erase(ctx, job.ID)
	check(t, err)
	if _, err := s.Jobs().RecordLife(hung, job.ID); !errors.Is(err, crawl.ErrDiscarded) {
		t.Errorf("a record of a job that was deleted: %v", err)
	}
	next := submitJob(t, s, job)
	present := crawl.UnderEpoch(ctx, job.ID, next.Epoch)
	if n, err := s.Jobs().RecordLife(present, job.ID); n != next.First || err != nil {
		t.Errorf("records of the second life are under %d, %v; want %d", n, err, next.First)
	}
	u := manyURLs(t, 0, 3, 1)
	_, err = s.URLs().Claim(ctx, job.ID, id("present"), storetest.Tasks(job.ID, u...))
	if !errors.Is(err, crawl.ErrDiscarded) {
		t.Errorf("URLs of the first life are claimed for the second: %v", err)
	}
	for name, write := range lateWrites(s, job.ID, u) {
		if err := write(hung, 0); !errors.Is(err, crawl.ErrDiscarded) {
			t.Errorf("%s, late: error %v", name, err)
		}
		if err := write(present, next.Epoch); err != nil {
			t.Errorf("%s of the present life: error %v", name, err)
		}
	}
	for name, write := range lateNotes(s, job.ID, u[0]) {
		check(t, write(hung, 1)) // they go together with those of others, and are left out
		if n := notes(t, s, job.ID, u[0]); n != 0 {
			t.Errorf("%s, late: %d are stored", name, n)
		}
	}
	check(t, s.AttemptLog().Append(present, crawl.LogLine{Job: job.ID, URL: u[0], Epoch: next.Epoch}))
	if n := notes(t, s, job.ID, u[0]); n != 1 {
		t.Errorf("%d lines of the present life are stored", n)
	}
}

// lateWrites are the calls of handlers that are refused; epoch is that of what they carry.
func lateWrites(s *postgres.Store, job crawl.JobID, u []weburl.URL) map[string]func(ctx context.Context,
	epoch uint32) error {
	none := func([]byte, []byte) bool { return false }
	return map[string]func(ctx context.Context, epoch uint32) error{
		"Finish": func(ctx context.Context, epoch uint32) error {
			return s.URLs().Finish(ctx, job,
				crawl.Entry{Key: u[0].Key(), State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200, Epoch: epoch})
		},
		"Reopen": func(ctx context.Context, _ uint32) error { return s.URLs().Reopen(ctx, job, u[1].Key()) },
		"Claim of content": func(ctx context.Context, _ uint32) error {
			_, err := s.ContentSet().Claim(ctx, crawl.Fingerprint{Job: job, URL: u[0], Digest: crawl.Digest{1}}, -1, none)
			return err
		},
		"Spend of a budget": func(ctx context.Context, _ uint32) error {
			_, err := s.Budgets().Spend(ctx, job, "host a", 1, 6)
			return err
		},
		"Spend of a bound": func(ctx context.Context, _ uint32) error {
			_, err := s.Spending().Spend(ctx, job, 1, time.Now())
			return err
		},
		"KeepPlaces": func(ctx context.Context, _ uint32) error { return s.Places().KeepPlaces(ctx, job, u[2].Key()) },
		"Redirect":   func(ctx context.Context, _ uint32) error { return s.Redirects().Redirect(ctx, job, u[0], u[1]) },
		"Note":       func(ctx context.Context, _ uint32) error { return s.Unkept().Note(ctx, job, u[0], "noindex") },
	}
}

// lateNotes are the calls that are gathered.
func lateNotes(s *postgres.Store, job crawl.JobID, u weburl.URL) map[string]func(ctx context.Context,
	epoch uint32) error {
	return map[string]func(ctx context.Context, epoch uint32) error{
		"Append": func(ctx context.Context, epoch uint32) error {
			return s.AttemptLog().Append(ctx, crawl.LogLine{Job: job, URL: u, Epoch: epoch})
		},
		"Expect": func(ctx context.Context, epoch uint32) error {
			return s.Following().Expect(ctx, crawl.Task{Job: job, URL: u, Epoch: epoch})
		},
		"Claimed": func(ctx context.Context, _ uint32) error {
			return s.Following().Claimed(ctx, job, u, crawl.Share{Epoch: 1, Of: 1})
		},
	}
}

// notes counts what is noted of a URL: lines, and pages whose links are on their way.
func notes(t *testing.T, s *postgres.Store, job crawl.JobID, u weburl.URL) int {
	t.Helper()
	lines, err := s.AttemptLog().Attempts(t.Context(), job, u.Key(), 10)
	check(t, err)
	waiting, err := s.Following().Waiting(t.Context(), job)
	check(t, err)
	return len(lines) + int(waiting)
}
