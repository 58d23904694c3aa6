package main

import (
	"context"
	"fmt"

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
func (c *crawls) SwitchRendering(ctx context.Context, n workflow.Note, id crawl.JobID, r api.RenderSwitch) (*report.Template, error) {
	defer c.turns.take(id)()
	template, err := r.ID()
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	to := r.Switch
	if to == string(crawl.RenderAuto) {
		to = ""
	}
	known, from := false, ""
	t, err := c.s.engine.Store().RenderStats().ChangeTemplate(ctx, id, r.Host, template, func(t *crawl.RenderTemplate) bool {
		known, from = t.Shape != "" || t.Sent > 0 || t.Switch != "", t.Switch
		if t.Switch == to {
			return false
		}
		t.Switch = to
		return known
	})
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("template %s of %q: %w", r.Template, r.Host, workflow.ErrNotFound)
	}
	if from != to {
		if err := c.s.manager.RenderSwitched(ctx, n.Actor, id, workflow.RenderSwitchEvent{Host: r.Host, Template: report.TemplateID(template),
			Shape: t.Shape, From: switchWord(from), To: switchWord(to)}); err != nil {
			return nil, err
		}
	}
	out := report.TemplateOf(&t)
	return &out, nil
}

// switchWord is a switch for people.
func switchWord(s string) string {
	if s == "" {
		return string(crawl.RenderAuto)
	}
	return s
}
