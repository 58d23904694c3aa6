package cluster

import (
	"context"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// letGo is how long programs may work with what they knew of a job before it was deleted: they look again within
// postgres.Config.JobExpiry, and finish what they have in hand.
const letGo = 2 * specExpiry

// deleteIfKnown deletes a job, if there is one.
func (c *Cluster) deleteIfKnown(ctx context.Context, id crawl.JobID) (*control.Deleted, error) {
	known, err := c.Postgres.Jobs().List(ctx)
	if err != nil || !slices.ContainsFunc(known, func(j crawl.JobInfo) bool { return j.ID == id }) {
		return nil, err
	}
	return c.Delete(ctx, id, true)
}

// Delete implements control.Service. It goes on with a deletion that was interrupted. The job must be named.
func (c *Cluster) Delete(ctx context.Context, id crawl.JobID, force bool) (*control.Deleted, error) {
	jobs := c.Postgres.Jobs()
	info, err := jobs.Info(ctx, id)
	if err != nil && info.ID == "" {
		return nil, err
	}
	if info.State == crawl.JobRunning && info.Deleted.IsZero() && !force {
		return nil, control.Misusef("job %s is running: `whirlpool stop --cluster --job %s` stops it; "+
			"--force deletes it as it is", id, id)
	}
	if err := c.Mongo.Ping(ctx); err != nil { // a deletion that has begun makes the job unusable until it has ended
		return nil, err
	}
	age, err := jobs.BeginDelete(ctx, id)
	if err != nil {
		return nil, err
	}
	if wait := letGo - age; wait > 0 {
		if err := control.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
	records, err := c.Mongo.Drop(ctx, id)
	if err != nil {
		return nil, err
	}
	erased, err := jobs.Erase(ctx, id)
	if err != nil {
		return nil, err
	}
	out := &control.Deleted{Job: id, Records: records}
	for _, e := range erased {
		out.Erased = append(out.Erased, control.Erased{What: "rows of " + e.Table, N: e.Rows})
	}
	return out, nil
}
