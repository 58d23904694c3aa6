package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// previews gives the API previews of edits of the cluster's jobs.
type previews struct{ s *served }

var _ api.Previews = previews{}

// Preview implements api.Previews.
func (p previews) Preview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	if err := p.s.check(next); err != nil {
		return &control.Misuse{Err: err}
	}
	return node.PreviewCluster(ctx, p.s.engine.Postgres, next, tell)
}
