// Package directory does with the crawl in a directory what control.Service promises: through the process that runs it,
// or in its state where none does.
package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Service is the service for one directory. It keeps nothing open between two calls, so that a crawl may begin in it.
type Service struct {
	named string
}

var _ control.Service = (*Service)(nil)

// New returns the service for a directory; "": the only crawl at hand, which is looked for in each call.
func New(named string) *Service { return &Service{named: named} }

// Close implements control.Service.
func (s *Service) Close() error { return nil }

// with opens the directory for a moment.
func (s *Service) with(ctx context.Context, id crawl.JobID, do func(d *Directory) error) (err error) {
	d, err := Open(ctx, s.named)
	if err != nil {
		return err
	}
	defer func() {
		if e := d.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	if id != "" {
		job, err := d.Job(ctx)
		if err != nil {
			return err
		}
		if err := isIt(job, d.Dir, id); err != nil {
			return err
		}
	}
	return do(d)
}

// isIt refuses a job that the directory does not hold.
func isIt(job *crawl.Job, dir string, id crawl.JobID) error {
	if id == "" || job.ID == id {
		return nil
	}
	return fmt.Errorf("%s holds the crawl %q, not %q", dir, job.ID, id)
}

// dial reaches the process that runs the crawl.
func (s *Service) dial(ctx context.Context, id crawl.JobID) (*report.Client, error) {
	dir, err := Find(s.named)
	if err != nil {
		return nil, err
	}
	client, err := report.Dial(ctx, dir)
	if err != nil || id == "" {
		return client, err
	}
	job, err := client.Job(ctx)
	if err != nil {
		return nil, err
	}
	return client, isIt(job, dir, id)
}

// Order implements control.Service. The crawl must run.
func (s *Service) Order(ctx context.Context, id crawl.JobID, o control.Order) (*control.Ordered, error) {
	client, err := s.dial(ctx, id)
	if err != nil {
		return nil, err
	}
	state := ""
	switch o {
	case control.Pause:
		state, err = "paused", client.Pause(ctx, true)
	case control.Resume:
		state, err = "running", client.Pause(ctx, false)
	case control.Stop:
		state, err = "stopping", client.Stop(ctx)
	default:
		err = control.Misusef("no order is called %q", o)
	}
	if err != nil {
		return nil, err
	}
	text := state
	if o == control.Resume { // what else paused it does so still
		if s, err := client.Status(ctx); err == nil && s.State == report.StatePaused && s.PausedFor != "" {
			state, text = "paused", "still paused: "+s.PausedFor
		}
	}
	return &control.Ordered{Job: id, State: state, Text: text}, nil
}

// List implements control.Service: it lists the one job of the directory. A crawl that ends meanwhile is looked at once
// more.
func (s *Service) List(ctx context.Context) ([]control.Listed, error) {
	out, err := s.list(ctx)
	if errors.Is(err, report.ErrEnded) {
		return s.list(ctx)
	}
	return out, err
}

func (s *Service) list(ctx context.Context) (out []control.Listed, err error) {
	err = s.with(ctx, "", func(d *Directory) error {
		st, err := d.Status(ctx)
		if err != nil {
			return err
		}
		job, err := d.Job(ctx)
		if err != nil {
			return err
		}
		out = []control.Listed{{ID: st.Job, State: string(st.State), Pages: st.Pages, Open: st.Open,
			Epoch: crawl.EpochOf(job.Epoch)}}
		return nil
	})
	return out, err
}
