package cluster

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// states are those that orders give to jobs.
var states = map[control.Order]crawl.JobState{control.Pause: crawl.JobPaused, control.Resume: crawl.JobRunning,
	control.Stop: crawl.JobStopped}

// Order implements control.Service. The frontier looks for a job's state every two seconds.
func (c *Cluster) Order(ctx context.Context, id crawl.JobID, o control.Order) (*control.Ordered, error) {
	after, known := states[o]
	if !known {
		return nil, control.Misusef("no order is called %q", o)
	}
	for {
		j, err := c.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		out := &control.Ordered{Job: j.Info.ID, State: string(after)}
		switch j.Info.State {
		case crawl.JobEnded:
			return nil, fmt.Errorf("job %s has finished: there is nothing to %s", out.Job, o)
		case after:
			out.Text = fmt.Sprintf("job %s is %s already", out.Job, after)
			return out, nil
		}
		done, err := c.Postgres.Jobs().Turn(ctx, out.Job, 0, after, j.Info.State)
		if err != nil {
			return nil, err
		}
		if done { // else it has another state by now
			out.Text = fmt.Sprintf("job %s is %s; the frontier follows within some seconds", out.Job, after)
			return out, nil
		}
	}
}
