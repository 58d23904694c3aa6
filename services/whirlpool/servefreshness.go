package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Freshness implements api.Crawls.
func (c *crawls) Freshness(ctx context.Context, id crawl.JobID) (*report.Freshness, error) {
	store := c.s.engine.Store()
	job, err := store.Jobs().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	figures, running, now := c.s.engine.Freshness(id)
	return report.FreshnessOf(ctx, store.Revisits(), job, figures, running, now)
}
