package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// maxRendering is how many templates are listed at once.
const maxRendering = 1000

// Rendering implements api.Crawls.
func (c *crawls) Rendering(ctx context.Context, id crawl.JobID) (*report.Rendering, error) {
	store := c.s.engine.Store()
	all, err := store.RenderStats().Templates(ctx, id)
	if err != nil {
		return nil, err
	}
	tally, err := store.URLs().Tally(ctx, id)
	if err != nil {
		return nil, err
	}
	return report.RenderingOf(all, tally, maxRendering), nil
}

// SwitchRendering implements api.Crawls. The renderer reads the template before each page.
func (c *crawls) SwitchRendering(ctx context.Context, n workflow.Note, id crawl.JobID,
	r api.RenderSwitch) (*report.Template, error) {
	defer c.turns.take(id)()
	t, change, err := api.SwitchTemplate(ctx, c.s.engine.Store().RenderStats(), id, r)
	if err == nil && change != nil {
		err = c.s.manager.RenderSwitched(ctx, n.Actor, id, *change)
	}
	return t, err
}
