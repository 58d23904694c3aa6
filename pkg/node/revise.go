package node

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// StoredJob returns the job that a store belongs to, as it is now.
func StoredJob(ctx context.Context, s *local.Store) (*crawl.Job, bool, error) {
	known := s.Jobs().Known()
	if len(known) == 0 {
		return nil, false, nil
	}
	job, err := s.Jobs().Job(ctx, known[0])
	return job, err == nil, err
}

// remember stores the job in a new directory, or as a revision of the one that an old directory holds. The settings of
// a job may change; its id may not, nor those by which its URLs and pages are known.
func (l *Local) remember(ctx context.Context, dir string, job *crawl.Job) error {
	former, found, err := StoredJob(ctx, l.Store)
	if err != nil {
		return err
	}
	if found && former.ID != job.ID {
		return fmt.Errorf("%s holds the crawl %q, not %q: choose another directory with -o, or discard it with --fresh",
			dir, former.ID, job.ID)
	}
	l.Resumed = found
	l.Job, l.Changes, err = Revise(ctx, l.Store.Jobs(), job)
	return err
}

// Revise makes a specification the one that applies, and returns it with what it changes. The lines of its blacklist
// become part of it: the file may change without it. What was learned of its topic stays.
func Revise(ctx context.Context, jobs crawl.JobStore, job *crawl.Job) (*crawl.Job, []crawl.Change, error) {
	next, err := withBlacklist(job)
	if err != nil {
		return nil, nil, err
	}
	if before, err := jobs.Job(ctx, job.ID); err == nil {
		next.KeepModels(before)
	}
	current, added, err := jobs.AddRevision(ctx, next)
	if err != nil || !added || current.Epoch == max(1, current.First) {
		return current, nil, err
	}
	before, err := jobs.JobAt(ctx, job.ID, current.Epoch-1)
	if err != nil {
		return nil, nil, err
	}
	return current, crawl.Changes(before, current), nil
}

// Revise makes a revision of the job that runs, and returns what it changes. From the next lease on it applies.
func (l *Local) Revise(ctx context.Context, job *crawl.Job) ([]crawl.Change, error) {
	if job.ID != l.Job.ID {
		return nil, fmt.Errorf("the crawl is %q, not %q", l.Job.ID, job.ID)
	}
	return l.Engine.Revise(ctx, job)
}
