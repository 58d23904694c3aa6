package local

import (
	"context"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// What the stages store goes to the files of the job that it names. Where the store is one crawl's, it goes to that
// crawl's at once.

type (
	manyPages  struct{ s *Store }
	manyLogs   struct{ s *Store }
	manyBodies struct{ s *Store }
)

var (
	_ crawl.Pages      = manyPages{}
	_ crawl.AttemptLog = manyLogs{}
	_ crawl.KeptBodies = manyBodies{}
)

// AllPages takes the records of all jobs.
func (s *Store) AllPages() crawl.Pages {
	if !s.Many() {
		return s.pages
	}
	return manyPages{s}
}

// AllLogs takes the lines of crawl.log of all jobs.
func (s *Store) AllLogs() crawl.AttemptLog {
	if !s.Many() {
		return s.attempt
	}
	return manyLogs{s}
}

// AllBodies takes the bodies that jobs keep.
func (s *Store) AllBodies() crawl.KeptBodies {
	if !s.Many() {
		return s.KeptBodies()
	}
	return manyBodies{s}
}

// Put implements crawl.Pages.
func (m manyPages) Put(ctx context.Context, r *crawl.Record) error {
	f, err := m.s.filesOf(ctx, r.Job)
	if err != nil {
		return err
	}
	return f.pages.Put(ctx, r)
}

// Replace implements crawl.Pages.
func (m manyPages) Replace(ctx context.Context, r *crawl.Record) error {
	f, err := m.s.filesOf(ctx, r.Job)
	if err != nil {
		return err
	}
	return f.pages.Replace(ctx, r)
}

// Amend implements crawl.Pages.
func (m manyPages) Amend(ctx context.Context, job crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (bool, error) {
	f, err := m.s.filesOf(ctx, job)
	if err != nil {
		return false, err
	}
	return f.pages.Amend(ctx, job, u, visit, change)
}

// Mark implements crawl.Pages.
func (m manyPages) Mark(ctx context.Context, job crawl.JobID, u weburl.URL, visit int,
	change func(*crawl.Record)) (bool, error) {
	f, err := m.s.filesOf(ctx, job)
	if err != nil {
		return false, err
	}
	return f.pages.Mark(ctx, job, u, visit, change)
}

// Append implements crawl.AttemptLog. Mostly all lines are of one job.
func (m manyLogs) Append(ctx context.Context, lines ...crawl.LogLine) error {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].Job == lines[0].Job {
			n++
		}
		f, err := m.s.filesOf(ctx, lines[0].Job)
		if err == nil {
			err = f.attempt.Append(ctx, lines[:n]...)
		}
		if err != nil && !errors.Is(err, crawl.ErrDiscarded) {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// Keep implements crawl.KeptBodies.
func (m manyBodies) Keep(ctx context.Context, job crawl.JobID, d crawl.Digest, body []byte) error {
	return m.s.JobBodies(job).Keep(ctx, job, d, body)
}

// Kept implements crawl.KeptBodies.
func (m manyBodies) Kept(ctx context.Context, job crawl.JobID, d crawl.Digest) ([]byte, bool, error) {
	return m.s.JobBodies(job).Kept(ctx, job, d)
}
