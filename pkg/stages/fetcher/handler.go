package fetcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// Handler is the logic of the fetcher stage. It is safe for concurrent use; each call holds at most one connection.
type Handler struct {
	cfg      Config
	deps     Deps
	client   Client
	metrics  *metrics
	inFlight *inFlight

	jars       *jars
	identities *crawl.PerRevision[*identity]
	logins     *logins
	told       told
	bombed     oldHosts // those that refused their own cookies as too many
}

var _ pipeline.Handler[*crawl.Fetch] = (*Handler)(nil)

// New returns a handler. Close it when no call is under way any more.
func New(cfg Config, deps Deps) (*Handler, error) {
	if err := errors.Join(cfg.Validate(), deps.validate()); err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, deps: deps, client: deps.Client, metrics: newMetrics(deps.Metrics), inFlight: newInFlight(),
		jars: newJars(deps.Jars, deps.OwnJars), identities: crawl.NewPerRevision(deps.Jobs, newIdentity), told: newTold()}
	h.logins = newLogins(h)
	if h.client != nil {
		return h, nil
	}
	var err error
	if h.client, err = newHTTPClient(cfg, deps.DNS, h.metrics); err != nil {
		return nil, err
	}
	return h, nil
}

// Close closes the client.
func (h *Handler) Close() { h.client.Close() }

// Handle implements pipeline.Handler. The last event is the outcome; a *crawl.Page, or the *crawl.Links of a redirect,
// may come before it.
func (h *Handler) Handle(ctx context.Context, f *crawl.Fetch) ([]crawl.Event, error) {
	job, err := h.deps.Jobs.JobAt(ctx, f.Task.Job, f.Task.Epoch)
	if errors.Is(err, crawl.ErrDiscarded) { // the frontier frees the host
		out := interrupted(f)
		out.Detail = "its job was deleted"
		return []crawl.Event{out}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
	}
	release, again, err := h.inFlight.take(ctx, &f.Task)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
	}
	defer release()
	if again || pipeline.DeliveryOf(ctx).Repeat {
		return h.repeated(ctx, job, f)
	}
	out := &crawl.Outcome{Task: f.Task}
	ok, rec, err := h.permittedBy(ctx, job, &f.Task, out)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
	}
	sitemaps, err := h.sitemapsOfOthers(ctx, job, &f.Task, &rec)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
	}
	var before []crawl.Event //nolint:prealloc // ask makes it
	if ok {
		if out, before, err = h.ask(ctx, job, f, out); err != nil {
			return nil, err
		}
	}
	out.Follows = f.Task.Tracked && len(before) > 0
	h.metrics.observe(out)
	return append(append(before, sitemaps...), out), nil
}

// ask makes the request of a lease that robots.txt permits, unless the log-in or a plug-in keeps it: then out says why.
func (h *Handler) ask(ctx context.Context, job *crawl.Job, f *crawl.Fetch,
	out *crawl.Outcome) (_ *crawl.Outcome, before []crawl.Event, err error) {
	login, ok := uint64(0), true
	if job.Login.URL != "" {
		if login, ok, err = h.logins.gate(ctx, job, f, out); err != nil {
			return nil, nil, fmt.Errorf("fetch %s: log in: %w", f.Task.URL, err)
		}
	}
	var change crawl.RequestChange
	if ok {
		if change, ok, err = h.askPlugins(ctx, job, &f.Task, out); err != nil {
			return nil, nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
		}
	}
	if !ok {
		return out, nil, nil
	}
	asked := out.CrawlDelay
	if out, before, err = h.attempt(ctx, job, f, login, change); err != nil {
		return nil, nil, fmt.Errorf("fetch %s: %w", f.Task.URL, err)
	}
	out.CrawlDelay = asked
	return out, before, nil
}

// repeated answers a lease that was delivered before.
func (h *Handler) repeated(ctx context.Context, job *crawl.Job, f *crawl.Fetch) ([]crawl.Event, error) {
	h.told.drop(job, job.RulesOf(f.Task.URL))
	before, err := h.sitemapsAgain(ctx, job, f)
	if err != nil {
		return nil, fmt.Errorf("fetch %s again: %w", f.Task.URL, err)
	}
	return append(before, interrupted(f)), nil
}

// interrupted is the outcome of a lease that was delivered before. The request may have been made a moment ago, so the
// host counts as contacted just now.
func interrupted(f *crawl.Fetch) *crawl.Outcome {
	now := time.Now()
	return &crawl.Outcome{Task: f.Task, Verdict: crawl.VerdictInterrupted, Reason: crawl.ReasonInterrupted,
		Detail: "the fetcher stopped during an earlier attempt", Started: now, Ended: now}
}

// attempt makes the request and deals with the answer. An error is a fault of ours.
func (h *Handler) attempt(ctx context.Context, job *crawl.Job, f *crawl.Fetch, login uint64,
	change crawl.RequestChange) (*crawl.Outcome, []crawl.Event, error) {
	a := &attempt{job: job, task: &f.Task, out: &crawl.Outcome{Task: f.Task}, login: login, change: change}
	defer a.finish()
	before, err := h.answer(ctx, a, f)
	if err == nil && ctx.Err() != nil && !a.out.Verdict.Final() {
		err = context.Cause(ctx) // the shutdown is why it failed
	}
	a.finish()
	if err != nil && noFiles(err) && ctx.Err() == nil { // the spool's, say
		diagnose(err).apply(a.out)
		a.out.Robots = nil
		return a.out, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return a.out, before, nil
}

// answer sends the request and deals with the answer by the kind of the task.
func (h *Handler) answer(ctx context.Context, a *attempt, f *crawl.Fetch) ([]crawl.Event, error) {
	err := h.send(ctx, a, f)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case a.task.Kind == crawl.KindRobots:
		if err := h.robotsAnswer(ctx, a, err); err != nil {
			return nil, err
		}
		return sitemapLinks(a.job, a.task, a.out), nil
	case err != nil:
		a.failed(err)
		return nil, nil
	}
	return h.pageAnswer(ctx, a)
}

// proxied reports whether the requests of a job go through a proxy.
func (h *Handler) proxied(job *crawl.Job) bool {
	return h.cfg.Proxy != "" || len(job.Network.Proxies) > 0
}

// send makes the request of a lease, and keeps the cookies that the answer sets.
func (h *Handler) send(ctx context.Context, a *attempt, f *crawl.Fetch) error {
	r := Request{Job: a.job, Task: a.task, Addr: f.Addr, FirstWait: f.FirstWait, Bandwidth: f.Bandwidth,
		Private: h.private(a.job)}
	var err error
	withCookies := a.task.Kind != crawl.KindRobots
	if r.Header, err = h.personal(ctx, a.job, a.task.URL, withCookies); err != nil {
		return err
	}
	r.Header = addCookies(r.Header, a.job, a.task)
	a.setHeader(&r)
	if err = a.send(ctx, h.client, r); err == nil && withCookies {
		a.newCookies, err = h.keepCookies(ctx, a.job, a.task.URL, a.answer.Header)
	}
	return err
}

// private reports whether the job may reach addresses that are not public.
func (h *Handler) private(job *crawl.Job) bool {
	return h.cfg.AllowPrivate || h.cfg.PrivateJobs && job.AllowPrivate
}
