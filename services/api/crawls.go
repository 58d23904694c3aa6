package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// crawls gives the API what the cluster knows and does.
type crawls struct{ s *served }

var _ api.Crawls = (*crawls)(nil)

// View implements api.Crawls.
func (c *crawls) View(ctx context.Context, id crawl.JobID) (report.View, error) {
	j, err := c.s.engine.Cluster.Job(ctx, id)
	if errors.Is(err, report.ErrNoJob) {
		err = fmt.Errorf("%w: the cluster does not know execution %s: it has not begun, or its data are deleted",
			workflow.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	return j.ClusterJob, nil
}

// Progress implements api.Crawls.
func (c *crawls) Progress(ctx context.Context, id crawl.JobID) (workflow.Progress, error) {
	return c.s.engine.Progress(ctx, id)
}

// Revisions implements api.Crawls.
func (c *crawls) Revisions(ctx context.Context, id crawl.JobID) ([]crawl.Revision, error) {
	return c.s.engine.Postgres.Jobs().Revisions(ctx, id)
}

// Replay implements api.Crawls.
func (c *crawls) Replay(ctx context.Context, id crawl.JobID, choose control.Choose) (*control.Replayed, error) {
	return c.s.engine.Replay(ctx, id, choose)
}

// HoldHost implements api.Crawls. The frontiers hear of it within a second.
func (c *crawls) HoldHost(ctx context.Context, key string, held bool) error {
	guests := c.s.engine.Postgres.Guests()
	if held {
		return guests.HoldHost(ctx, key)
	}
	return guests.ReleaseHost(ctx, key)
}

// Rendering implements api.Crawls.
func (c *crawls) Rendering(ctx context.Context, id crawl.JobID) (*report.Rendering, error) {
	all, err := c.s.engine.Postgres.RenderStats().Templates(ctx, id)
	if err != nil {
		return nil, err
	}
	tally, err := c.s.engine.Postgres.URLs().Tally(ctx, id)
	if err != nil {
		return nil, err
	}
	return report.RenderingOf(all, tally, maxRendering), nil
}

// maxRendering is how many templates are listed at once.
const maxRendering = 1000

// SwitchRendering implements api.Crawls. The renderer reads the template before each page.
func (c *crawls) SwitchRendering(ctx context.Context, n workflow.Note, id crawl.JobID,
	r api.RenderSwitch) (*report.Template, error) {
	t, change, err := api.SwitchTemplate(ctx, c.s.engine.Postgres.RenderStats(), id, r)
	if err == nil && change != nil {
		err = c.s.manager.RenderSwitched(ctx, n.Actor, id, *change)
	}
	return t, err
}

// Dir implements api.Crawls.
func (c *crawls) Dir(_ context.Context, id crawl.JobID) (string, error) {
	return c.s.engine.Dir(id), nil
}

// Pages implements api.Crawls.
func (c *crawls) Pages(_ context.Context, id crawl.JobID) (io.ReadCloser, error) {
	return c.s.engine.Mongo.Job(id).Lines(c.s.running), nil //nolint:contextcheck // it is read when the request's handler has returned
}

// Body implements api.Crawls.
func (c *crawls) Body(ctx context.Context, id crawl.JobID, d crawl.Digest) ([]byte, bool, error) {
	return c.s.engine.Mongo.Bodies().Kept(ctx, id, d)
}

// Agents implements api.Crawls.
func (c *crawls) Agents(ctx context.Context) ([]api.Agent, error) { return c.s.agents(ctx) }

// Freshness implements api.Crawls. What the frontiers have planned is theirs: the pages and when they are due are told.
func (c *crawls) Freshness(ctx context.Context, id crawl.JobID) (*report.Freshness, error) {
	job, err := c.s.engine.Job(ctx, id)
	if err == nil && job == nil {
		err = workflow.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	info, err := c.s.engine.Postgres.Jobs().Info(ctx, id)
	if err != nil {
		return nil, err
	}
	return report.FreshnessOf(ctx, c.s.engine.Postgres.Revisits(), job, nil, info.State == crawl.JobRunning, time.Now())
}
