// Package renderer has pages that may gain rendered in a browser, and sends what comes of it to the parser.
//
// Its duties, in order, for each page:
//
//  1. Ask the test of the page's template whether the page is rendered. While others of the template are being tried
//     the page waits.
//  2. See that what the page's scripts need is in the store of resources. What is not is asked for, as links that the
//     frontier schedules like all others, and the page waits for it: the browser has no network.
//  3. Render, answering the page's requests from the store. What scripts ask for besides is asked for in another round.
//  4. Spool what came of it and pass it on as a page.
//
// A page that cannot be rendered stays as it was fetched. A render never contacts a host.
package renderer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Deps are what the stage works with.
type Deps struct {
	Jobs      crawl.Jobs
	Bodies    Bodies
	Resources crawl.Resources
	Renders   crawl.RenderStats
	Attempts  crawl.AttemptLog // gets a line for a render that failed
	// Browser renders; nil: there is none, and pages stay as they were fetched. An error of it that is a Resting says when
	// to try again.
	Browser render.Browser
	// Goes reports whether a job fetches, so that what its pages ask for may come, and whether it was stopped: its pages
	// stay as they were fetched. nil: it goes on.
	Goes     func(crawl.JobID) (fetches, stopped bool)
	Pictures Pictures      // gets screenshots; nil: none are kept
	Archive  crawl.Archive // gets the rendered HTML; nil: none
	// Archived says whose pages go to Archive; nil: those of all jobs.
	Archived func(*crawl.Job) bool
	Log      *slog.Logger
	Metrics  prometheus.Registerer // nil: none
}

// Bodies is what the stage needs of crawl.Bodies.
type Bodies interface {
	Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error)
	Release(ctx context.Context, ref crawl.BodyRef) error
}

// Pictures keeps the screenshots of pages.
type Pictures interface {
	// Keep keeps the picture of a page, in the place of one that it had, and returns its name below the directory of the
	// crawl.
	Keep(ctx context.Context, job crawl.JobID, page weburl.URL, webp []byte) (name string, err error)
}

// Resting is an error of a browser that cannot be used for a while.
type Resting interface {
	error
	// Rest is how long.
	Rest() time.Duration
}

const (
	// maxRounds bounds how often a page asks for more: a program that loads another, which loads data, takes three.
	maxRounds = 20
	// patience is how long a page waits for what it asked for in one round: a host may rest long.
	patience = 15 * time.Minute
	// maxHTML bounds what comes of a render, in octets.
	maxHTML = 10 << 20
	// emptied is what a page is whose scripts have removed all of it: nothing was gained, and nothing has failed.
	emptied = "<!DOCTYPE html>"
	// shortWait and longWait bound the pauses between two looks of a page that waits.
	shortWait, longWait = 300 * time.Millisecond, 20 * time.Second
)

// Handler is the logic of the stage: a pipeline.Handler of *crawl.Render.
type Handler struct {
	deps    Deps
	metrics *metrics
	polls   *polls
}

var _ pipeline.Handler[*crawl.Render] = (*Handler)(nil)

// New returns a handler.
func New(deps Deps) *Handler {
	return &Handler{deps: deps, metrics: newMetrics(deps.Metrics), polls: newPolls()}
}

// errWaits is why a page comes back later.
var errWaits = errors.New("the page waits to be rendered")

// later brings a page back after a pause that grows with each time.
func later(ctx context.Context) error {
	pause := min(shortWait<<min(pipeline.DeliveryOf(ctx).Attempt/2, 10), longWait)
	return &bus.RetryError{After: pause, Err: errWaits, Expected: true}
}

// Handle implements pipeline.Handler.
func (h *Handler) Handle(ctx context.Context, e *crawl.Render) ([]crawl.Event, error) {
	t := &e.Page.Task
	job, err := h.deps.Jobs.JobAt(ctx, t.Job, t.Epoch)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", t.URL, err)
	}
	out, err := h.handle(ctx, job, e)
	if rest := Resting(nil); errors.As(err, &rest) {
		return nil, &bus.RetryError{After: max(rest.Rest(), shortWait), Err: err, Expected: true}
	}
	if err != nil && !bus.IsExpected(err) {
		err = fmt.Errorf("render %s: %w", t.URL, err)
	}
	return out, err
}

func (h *Handler) handle(ctx context.Context, job *crawl.Job, e *crawl.Render) ([]crawl.Event, error) {
	fetches, stopped := true, false
	if h.deps.Goes != nil {
		fetches, stopped = h.deps.Goes(job.ID)
	}
	if left, err := h.leaves(ctx, job, e, fetches, stopped); left || err != nil {
		return nil, err
	}
	html, err := unpack(e.HTML)
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	s := newServer(h, job, e)
	s.last = !fetches
	if e.Round == 0 && fetches { // its scripts are needed in any case
		if err := s.wantScripts(ctx, html); err != nil {
			return nil, err
		}
		if out := s.again(); out != nil {
			return out, nil
		}
	}
	res, err := h.deps.Browser.Render(ctx, h.request(job, e, html), s.serve)
	switch {
	case err == nil:
		err = s.fault()
	case errors.Is(err, render.ErrUnavailable):
		h.metrics.ended("no-browser", nil)
		return nil, nil // who has the browser said so once
	}
	if err != nil {
		return nil, err
	}
	if out := s.again(); out != nil {
		h.metrics.ended("round", &res)
		return out, nil
	}
	return h.done(ctx, job, e, &res, s)
}

// leaves reports whether a page stays as it was fetched. An error brings the page back later.
func (h *Handler) leaves(ctx context.Context, job *crawl.Job, e *crawl.Render, fetches, stopped bool) (bool, error) {
	switch {
	case stopped:
		h.metrics.ended("left", nil)
		return true, nil
	case h.deps.Browser == nil:
		h.metrics.ended("no-browser", nil)
		return true, nil
	case fetches && !h.here(ctx, job, e):
		return false, later(ctx)
	}
	switch a, err := h.ask(ctx, job, e); {
	case err != nil:
		return false, err
	case a == decide.Wait:
		return false, later(ctx)
	case a == decide.Leave:
		h.metrics.ended("left", nil)
		return true, nil
	}
	return false, nil
}

// here reports whether what a page waits for has come, or need not be waited for.
func (h *Handler) here(ctx context.Context, job *crawl.Job, e *crawl.Render) bool {
	now := time.Now()
	if len(e.Wants) == 0 || now.After(e.Until) {
		return true
	}
	for _, href := range e.Wants {
		u, err := weburl.Parse(href)
		if err != nil {
			continue
		}
		if _, found, err := h.deps.Resources.Resource(ctx, job.ID, u, now); err == nil && !found {
			return false
		}
	}
	return true
}

// ask asks the test of the page's template.
func (h *Handler) ask(ctx context.Context, job *crawl.Job, e *crawl.Render) (a decide.Answer, err error) {
	by, now := crawl.RenderKey(&e.Page.Task), time.Now()
	_, err = h.deps.Renders.ChangeTemplate(ctx, job.ID, e.Page.Key(), e.Template,
		func(t *crawl.RenderTemplate) (changed bool) {
			if t.Shape == "" {
				t.Shape, t.Example = e.Shape, e.Page.Task.URL.String()
			}
			a, changed = decide.Ask(t, by, e.Why, now)
			return changed
		})
	return a, err
}

// request is what the browser gets.
func (h *Handler) request(job *crawl.Job, e *crawl.Render, html []byte) render.Request {
	r := job.Render.Filled()
	contentType := render.ContentType(e.Page.ContentType, e.Charset, html)
	return render.Request{URL: e.Page.Task.URL.String(), Status: e.Page.Status,
		Header: http.Header{"Content-Type": {contentType}}, Body: html, Scroll: !r.NoScroll, Screenshot: r.Screenshot &&
			h.deps.Pictures != nil, Seed: true, Nofollow: job.IgnoreMeta, Agent: job.RobotsAgent(),
		Now: e.Page.FetchedAt.Truncate(time.Hour), Languages: job.AcceptLanguage,
		Limits: render.Limits{Wall: r.Timeout.D(), Virtual: r.Virtual.D(), Bytes: int64(r.Bytes),
			HTML: int(min(int64(job.Limits.MaxBody), maxHTML))}}
}

// done passes on what came of a render.
func (h *Handler) done(ctx context.Context, job *crawl.Job, e *crawl.Render, res *render.Result,
	s *server) ([]crawl.Event, error) {
	h.metrics.ended(res.Verdict, res)
	if len(res.HTML) == 0 && res.Verdict == render.Done {
		res.HTML = []byte(emptied)
	}
	if len(res.HTML) == 0 {
		return nil, h.failed(ctx, job, e, res)
	}
	ref, err := h.deps.Bodies.Put(ctx, bytes.NewReader(res.HTML))
	if err != nil {
		return nil, fmt.Errorf("spool what was rendered: %w", err)
	}
	p := e.Page
	p.Body, p.Bytes, p.ContentType = ref, int64(len(res.HTML)), "text/html; charset=utf-8"
	p.Rendered = &crawl.Rendered{Digest: sha256.Sum256(res.HTML), At: time.Now().UTC(), Wall: res.Wall, CPU: res.CPU,
		Settled: res.Settled, Requests: res.Requests, Refused: res.Refused, Missing: s.missingNow(), Template: e.Template,
		Shape: e.Shape, Why: e.Why, Before: e.Before, Links: append(res.Links, res.Navigated...),
		Unfollowed: res.Unfollowed}
	if u, err := weburl.Parse(res.Final); err == nil && u != p.Task.URL && u.Origin() == p.Task.URL.Origin() {
		p.Rendered.Final = u
	}
	if err := h.picture(ctx, job, &p, res.Screenshot); err != nil {
		return nil, errors.Join(err, h.deps.Bodies.Release(ctx, ref))
	}
	if err := h.archive(ctx, job, &p, res); err != nil {
		return nil, errors.Join(err, h.deps.Bodies.Release(ctx, ref))
	}
	return []crawl.Event{&p}, nil
}

// failed notes a render that brought nothing: the page stays as it was fetched.
func (h *Handler) failed(ctx context.Context, job *crawl.Job, e *crawl.Render, res *render.Result) error {
	t, now := &e.Page.Task, time.Now()
	ended := decide.Ended{By: crawl.RenderKey(t), Failed: true, CPU: res.CPU, Wall: res.Wall}
	_, err := h.deps.Renders.ChangeTemplate(ctx, job.ID, e.Page.Key(), e.Template, func(rt *crawl.RenderTemplate) bool {
		return decide.Add(rt, ended, job.Render.Filled().Worth.D(), now)
	})
	if err != nil || h.deps.Attempts == nil {
		return err
	}
	return h.deps.Attempts.Append(ctx,
		crawl.LogLine{Job: job.ID, At: now, URL: t.URL, Kind: crawl.KindRender, Verdict: crawl.VerdictFailed,
			Reason: "render-" + res.Verdict, Detail: res.Detail, Duration: res.Wall, Attempt: 1, Depth: t.Depth,
			Referrer: t.Referrer, Epoch: t.Epoch})
}
