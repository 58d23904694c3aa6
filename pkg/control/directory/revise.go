package directory

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// Revise implements control.Service: through the process that runs the crawl, or in its state.
func (s *Service) Revise(ctx context.Context, id crawl.JobID, change control.Change) (r *control.Revised, err error) {
	err = s.with(ctx, id, func(d *Directory) error {
		job, err := d.Job(ctx)
		if err != nil {
			return err
		}
		next, err := change(job)
		if err != nil {
			return err
		}
		r, err = d.revise(ctx, next)
		return err
	})
	return r, err
}

func (d *Directory) revise(ctx context.Context, next *crawl.Job) (*control.Revised, error) {
	if d.client != nil {
		r, err := d.client.Revise(ctx, next)
		if err != nil {
			return nil, err
		}
		return &control.Revised{Job: r.Job, Epoch: r.Epoch, Changes: r.Changes,
			Applies: "from the next request on it applies"}, nil
	}
	current, changes, err := node.Revise(ctx, d.Store.Jobs(), next)
	if err != nil {
		return nil, err
	}
	return &control.Revised{Job: current.ID, Epoch: current.Epoch, Changes: changes,
		Applies: "it applies when the crawl is resumed: `whirlpool crawl -o " + d.Dir + "`"}, nil
}
