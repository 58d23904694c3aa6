package cluster

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// stateDeleting is the state of a job whose deletion has not come to its end, besides those of crawl.JobState.
const stateDeleting = "deleting"

// List implements control.Service.
func (c *Cluster) List(ctx context.Context) ([]control.Listed, error) {
	all, err := c.Postgres.Jobs().List(ctx)
	if err != nil {
		return nil, err
	}
	lines := []control.Listed{}
	for i := range all {
		if j := &all[i]; j.Job != nil || j.Fault != nil || !j.Deleted.IsZero() { // somebody submitted it
			line, err := c.listed(ctx, j)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func (c *Cluster) listed(ctx context.Context, j *crawl.JobInfo) (line control.Listed, err error) {
	line = control.Listed{ID: j.ID, State: string(j.State), Created: j.Created}
	tally, err := c.Postgres.URLs().Tally(ctx, j.ID)
	if err != nil {
		return line, err
	}
	line.Pages, line.Open = tally.Pages, tally.Claimed
	for _, n := range tally.Verdicts {
		line.Open -= n
	}
	if j.Job != nil {
		line.Epoch = j.Job.Epoch
	}
	if j.Fault != nil {
		line.Fault = j.Fault.Error()
	}
	if !j.Deleted.IsZero() {
		line.State = stateDeleting
	}
	return line, nil
}
