package parser

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Plugins change what the parser reads, and what it makes of it. Pages alone pass them: no sitemaps, no style sheets.
type Plugins interface {
	// Response says what becomes of an answer before it is parsed. It changes nothing of its arguments.
	Response(ctx context.Context, job *crawl.Job, p *crawl.Page, body []byte) (crawl.ResponseChange, error)
	// Document changes a parsed page, and then its links. One that is dropped has Unkept set and no links.
	Document(ctx context.Context, job *crawl.Job, d *crawl.Document, body []byte) error
}

// UsePlugins lets plug-ins of jobs take part. Call it before the first Handle.
func (h *Handler) UsePlugins(p Plugins) { h.plugins = p }

// plugged reports whether plug-ins take part in a page.
func (h *Handler) plugged(p *crawl.Page, job *crawl.Job) bool {
	return h.plugins != nil && !job.Pipeline.Empty() && p.Task.Kind == crawl.KindPage
}

// parse makes a document of a page, with the job's plug-ins where it has any.
func (h *Handler) parse(ctx context.Context, p *crawl.Page, body []byte, job *crawl.Job,
	rules *Rules) (*crawl.Document, error) {
	if !h.plugged(p, job) {
		return h.parsed(ctx, p, body, job, rules)
	}
	change, err := h.plugins.Response(ctx, job, p, body)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.Task.URL, err)
	}
	changed := *p
	changed.ContentType = change.ContentType
	changed.AddPlugins(change.Plugged)
	if change.Body != nil {
		body = change.Body
	}
	if change.Drop != "" && !change.LinksOnly {
		return &crawl.Document{Page: changed, ContentType: mediaType(changed.ContentType), Unkept: change.Drop,
			Why: change.Why}, nil
	}
	d, err := h.parsed(ctx, &changed, body, job, rules)
	if err != nil {
		return nil, err
	}
	if err := h.plugins.Document(ctx, job, d, body); err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.Task.URL, err)
	}
	if change.Drop != "" && d.Unkept == "" {
		d.Unkept, d.Why = change.Drop, change.Why
	}
	return d, nil
}

// parsed makes a document of a page.
func (h *Handler) parsed(ctx context.Context, p *crawl.Page, body []byte, job *crawl.Job,
	rules *Rules) (*crawl.Document, error) {
	var d *crawl.Document
	if h.opens(p, job) {
		var err error
		if d, err = h.open(ctx, p, body, job, rules); err != nil {
			return nil, err
		}
	} else {
		d = document(p, body, job, rules)
	}
	if len(h.sites) > 0 && p.Task.Kind == crawl.KindPage {
		h.runSites(d, body, job)
	}
	return d, nil
}
