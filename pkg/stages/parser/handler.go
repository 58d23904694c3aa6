package parser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	model "github.com/whirlpool-crawler/whirlpool/pkg/topic"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/sitemap"
)

// Bodies is what the stage needs of crawl.Bodies.
type Bodies interface {
	Open(ctx context.Context, ref crawl.BodyRef) (io.ReadCloser, error)
}

// Handler is the parser stage's logic.
type Handler struct {
	bodies  Bodies
	log     *slog.Logger
	buffers sync.Pool
	large   chan struct{} // has room for the pages above largePage that are parsed at once

	rules   *crawl.PerRevision[*Rules]
	sites   []crawl.SiteParser // of the program that embeds the crawler
	kept    crawl.KeptBodies   // nil: no job's bodies are kept
	plugins Plugins            // of jobs; nil: none
	opener  crawl.Opener       // of documents that are no pages; nil: they have no text
	learner Learner            // nil: no models are made
	readers sync.Pool          // of texts, for the models of jobs that have any
}

var _ pipeline.Handler[*crawl.Page] = (*Handler)(nil)

// largePage is the size in bytes from which pages are parsed one at a time. Parsing takes up to ten times a page's size
// in memory, so a few workers with pages of limits.max_body could use more memory than the rest of the crawl.
const largePage = 1 << 20

// NewHandler returns the logic of a parser that reads bodies from a spool.
func NewHandler(jobs crawl.Jobs, bodies Bodies, log *slog.Logger) *Handler {
	return &Handler{bodies: bodies, log: log, rules: crawl.NewPerRevision(jobs, rulesOf), large: make(chan struct{}, 1),
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		readers: sync.Pool{New: func() any { return new(model.Reader) }}}
}

// Handle makes one crawl.Document of a page. If the body is no longer in the spool, the page was handled before,
// because the body is deleted last: Handle returns pipeline.ErrHandled. If the body was lost, it returns a
// crawl.Outcome, so that the frontier has the page fetched again.
func (h *Handler) Handle(ctx context.Context, p *crawl.Page) ([]crawl.Event, error) {
	job, rules, err := h.rules.At(ctx, p.Task.Job, p.Task.Epoch)
	if err != nil {
		return nil, fmt.Errorf("parse %s: job %s: %w", p.Task.URL, p.Task.Job, err)
	}
	if p.Bytes > largePage && !h.opens(p, job) { // who opens documents bounds their number
		select {
		case h.large <- struct{}{}:
			defer func() { <-h.large }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	buf := h.buffers.Get().(*bytes.Buffer)
	defer h.putBuffer(buf)
	switch err := h.read(ctx, p, job, buf); {
	case errors.Is(err, crawl.ErrNoBody):
		h.log.Debug("page was handled before", "url", p.Task.URL)
		return nil, pipeline.ErrHandled
	case errors.Is(err, crawl.ErrBodyLost):
		h.log.Warn("the page's body was lost: it is fetched again", "job", p.Task.Job, "url", p.Task.URL, "error", err)
		return []crawl.Event{&crawl.Outcome{Task: p.Task, Verdict: crawl.VerdictInterrupted, Reason: crawl.ReasonBodyLost,
			Detail: err.Error()}}, nil
	case err != nil:
		return nil, fmt.Errorf("parse %s: read its body: %w", p.Task.URL, err)
	}
	d, err := h.parse(ctx, p, buf.Bytes(), job, rules)
	if err != nil {
		return nil, err
	}
	if err := h.judge(ctx, job, d, rules); err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.Task.URL, err)
	}
	if p.Rendered != nil {
		addLinksOfRender(d)
		return []crawl.Event{d}, nil
	}
	if err := h.keep(ctx, job, d, buf.Bytes()); err != nil {
		return nil, fmt.Errorf("parse %s: %w", p.Task.URL, err)
	}
	d.Candidate = candidate(job, d, buf.Bytes())
	ofItsOwn(d, buf.Bytes())
	return []crawl.Event{d}, nil
}

// read reads as much of the body as its kind may have.
func (h *Handler) read(ctx context.Context, p *crawl.Page, job *crawl.Job, buf *bytes.Buffer) error {
	body, err := h.bodies.Open(ctx, p.Body)
	if err != nil {
		return err
	}
	limit := int64(job.Limits.MaxBody)
	if p.Task.Kind == crawl.KindSitemap {
		limit = max(limit, sitemap.DefaultLimits().MaxBytes)
	}
	buf.Grow(int(min(max(p.Bytes, 0), limit)) + bytes.MinRead) // doubling would leave the size of the page in garbage
	_, err = buf.ReadFrom(io.LimitReader(body, limit))
	return errors.Join(err, body.Close())
}

// maxBuffer is the largest buffer that waits for the next page.
const maxBuffer = 4 << 20

func (h *Handler) putBuffer(buf *bytes.Buffer) {
	if buf.Cap() <= maxBuffer {
		buf.Reset()
		h.buffers.Put(buf)
	}
}

// document parses a page and applies the job's rules. Links out of a sitemap are not weighed: they have priorities of
// their own.
func document(p *crawl.Page, body []byte, job *crawl.Job, rules *Rules) *crawl.Document {
	opt, base := optionsOf(job.Limits), p.Task.URL
	if p.Rendered != nil && !p.Rendered.Final.IsZero() {
		base = p.Rendered.Final // scripts have changed the address
	}
	opt.Agent, opt.Markdown, opt.Structured = job.RobotsAgent(), job.Extract.Markdown, job.Extract.Structured
	opt.Dates = job.Revisits()
	if p.Task.Kind == crawl.KindAsset {
		return styleSheet(p, body, opt)
	}
	if p.Task.Kind == crawl.KindSitemap || p.Task.Seed && isPacked(body) {
		return Feed(body, p.ContentType, base, opt).document(p)
	}
	r := Parse(body, p.ContentType, base, opt)
	r.linkHeaders(p.LinkHeaders, base, opt.MaxLinks)
	r.refreshHeader(p.Refresh, base, opt.MaxLinks)
	r.robotsTags(p.RobotsTags, opt)
	d := r.document(p)
	if job.Assets.Wanted() && isMarkup(r.MediaType) && !r.binary {
		addRequisites(d, body, opt.MaxLinks)
	}
	if rules != nil && len(rules.rules)+len(rules.policies) > 0 {
		src := &source{r: r, place: place{url: base}, body: body, contentType: p.ContentType, text: r.Text}
		match := rules.matching(base)
		weigh(match, d.Links)
		d.Fields = rules.fieldsOf(src, match)
		d.Cut = r.Cut
	}
	return d
}

// fieldsOf are the fields that rules which match, and the policies, take from a page.
func (rs *Rules) fieldsOf(s *source, match []*rule) (fields []crawl.Field) {
	if isMarkup(s.r.MediaType) && !s.r.binary {
		fields = s.fields(match)
	}
	return rs.selected(s, fields)
}

func isMarkup(mt string) bool { return mt == "text/html" || mt == "application/xhtml+xml" }

func (r *Result) document(p *crawl.Page) *crawl.Document {
	return &crawl.Document{Page: *p, Title: r.Title, Text: r.Text, Lang: r.Lang, Charset: r.Charset,
		ContentType: r.MediaType, Canonical: r.Canonical, Links: r.Links, NoIndex: r.NoIndex, NoFollow: r.NoFollow,
		Cut: r.Cut, Assets: r.Assets, Extracted: r.Extracted, Beyond: r.Beyond}
}

// rulesOf compiles the site rules, policies and models of a job; nil where it has none.
func rulesOf(job *crawl.Job) (*Rules, error) {
	if len(job.Rules)+len(job.Select) == 0 && job.TopicModel == "" && job.ClassModel == "" {
		return nil, nil
	}
	rules, err := Compile(job)
	if err == nil {
		rules.models, err = modelsOf(job)
	}
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	return rules, nil
}
