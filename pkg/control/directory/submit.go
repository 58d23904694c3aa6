package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// Submit implements control.Service. It needs a directory that was named. Where no process runs the crawl, the job
// waits for one: `whirlpool crawl -o DIR`.
func (s *Service) Submit(ctx context.Context, sub control.Submission) (*control.Submitted, error) {
	out := &control.Submitted{}
	if s.named == "" {
		return out, control.Misusef("name the directory that job %s is to be crawled into", sub.Job.ID)
	}
	if sub.Fresh && Holds(s.named) {
		var err error
		if out.Deleted, err = s.Delete(ctx, "", true); err != nil {
			return out, err
		}
	}
	if !Holds(s.named) {
		return out, s.begin(ctx, sub.Job, out)
	}
	return out, s.with(ctx, sub.Job.ID, func(d *Directory) error {
		next := sub.Job
		if sub.Known != nil {
			job, err := d.Job(ctx)
			if err == nil {
				next, err = sub.Known(job)
			}
			if err != nil {
				return err
			}
		}
		r, err := d.revise(ctx, next)
		if err != nil {
			return err
		}
		out.Job, out.Changes, out.Stored = next, r.Changes, true
		st, err := d.Status(ctx)
		if err == nil {
			out.State = string(st.State)
		}
		return err
	})
}

// begin stores the job in a new directory.
func (s *Service) begin(ctx context.Context, job *crawl.Job, out *control.Submitted) (err error) {
	store, err := local.Open(s.named, local.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if out.Job, _, err = node.Revise(ctx, store.Jobs(), job); err == nil {
		out.Stored, out.State = true, string(report.StateStopped)
	}
	return err
}

// Retry implements control.Service: what ended in a directory stays so.
func (s *Service) Retry(context.Context, crawl.JobID, control.Retry) (*control.Retried, error) {
	return nil, fmt.Errorf("URLs that have ended can be queued again in a cluster only: %w", errors.ErrUnsupported)
}

// Delete implements control.Service: it discards the crawl as `whirlpool crawl --fresh` does. Force does not help where
// a process runs it: that one would go on writing.
func (s *Service) Delete(ctx context.Context, id crawl.JobID, _ bool) (*control.Deleted, error) {
	var dir string
	err := s.with(ctx, id, func(d *Directory) error {
		if dir = d.Dir; d.Running() {
			return control.Misusef("the crawl in %s is running: stop it (`whirlpool stop -o %s`) before it is deleted", dir, dir)
		}
		id = d.job.ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	gone, err := local.Discard(dir)
	if err != nil {
		return nil, err
	}
	return &control.Deleted{Job: id, Records: gone.Records, Erased: []control.Erased{{What: "bytes", N: gone.Bytes}}}, nil
}
