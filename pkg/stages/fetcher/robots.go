package fetcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// How long an origin rests whose robots.txt cannot be had. If our own settings forbid the address, no request was made,
// and the settings are likely to be changed soon.
const (
	robotsDown    = time.Hour
	robotsRefused = 10 * time.Second
)

// goodFor is how long rules are good: as long as the job says, RFC 9309 (2.4) permits 24 hours, yet so long that some
// pages come between two requests for them, the next of which may wait for took, too. A longer Cache-Control does not
// extend it and a shorter one is not heeded: it would have some servers asked for their robots.txt more often than for
// their pages.
func goodFor(job *crawl.Job, crawlDelay, took time.Duration) time.Duration {
	const pages = 10
	p := &job.Politeness
	pause := max(p.Delay.D(), min(crawlDelay, p.MaxCrawlDelay.D()))
	if pause > 0 {
		pause = max(pause, min(time.Duration(p.DownloadFactor*float64(took)), p.MaxAdaptive.D()))
	}
	return min(max(job.Robots.Good(), pages*pause), crawl.MaxRobotsRefresh)
}

// maxRobotsRedirects is how many redirects lead to a robots.txt; then there is none (RFC 9309, section 2.3.1.2).
const maxRobotsRedirects = 5

// permitted checks a page against the robots.txt of its origin. Where it is not permitted, out says why.
func (h *Handler) permitted(ctx context.Context, job *crawl.Job, task *crawl.Task, out *crawl.Outcome) (bool, error) {
	ok, _, err := h.permittedBy(ctx, job, task, out)
	return ok, err
}

// permittedBy is permitted, with the record that says so; that has no origin where there is none.
func (h *Handler) permittedBy(ctx context.Context, job *crawl.Job, task *crawl.Task,
	out *crawl.Outcome) (ok bool, rec crawl.Robots, err error) {
	if job.IgnoreRobots || task.Kind == crawl.KindRobots {
		return true, rec, nil
	}
	var rules *robots.Rules
	var found bool
	origin := task.URL.Origin()
	rules, rec, found, err = h.deps.Robots.Rules(ctx, job.RulesOf(task.URL), job.RobotsAgent())
	switch {
	case err != nil:
		return false, rec, err
	case !found:
		Fault{crawl.VerdictRetry, crawl.ReasonRobots, "robots.txt not known yet"}.apply(out)
		return false, rec, nil
	case rec.State == crawl.RobotsDisallowAll:
		h.withoutRules(ctx, job, task, &rec).apply(out)
		return false, rec, nil
	}
	// asked of this job's agent only
	if out.CrawlDelay, _ = rules.CrawlDelay(); out.CrawlDelay > job.Politeness.MaxCrawlDelay.D() {
		Fault{crawl.VerdictBlocked, crawl.ReasonCrawlDelay,
			fmt.Sprintf("%s/robots.txt asks for a Crawl-delay of %v; politeness.max_crawl_delay is %v",
				origin, out.CrawlDelay, job.Politeness.MaxCrawlDelay.D())}.apply(out)
		out.CrawlDelay = 0
		return false, rec, nil
	}
	if allowed, rule, line := rules.Match(task.URL.RequestURI()); !allowed {
		Fault{crawl.VerdictBlocked, crawl.ReasonRobots, fmt.Sprintf("%s/robots.txt forbids it: line %d, %s",
			origin, line, cut(rule))}.apply(out)
		return false, rec, nil
	}
	return true, rec, nil
}

// withoutRules says what becomes of a page whose robots.txt could not be had. What another job, or an earlier revision,
// could not have is asked for again where this one may.
func (h *Handler) withoutRules(ctx context.Context, job *crawl.Job, task *crawl.Task, rec *crawl.Robots) Fault {
	again := Fault{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonRobots}
	switch {
	case h.private(job) && rec.Expires.Sub(rec.FetchedAt) <= robotsRefused:
		again.Detail = "robots.txt was refused to a job that may not reach private addresses; it is asked for again"
	case job.Network.Insecure && unverified(rec):
		again.Detail = "robots.txt was refused to a job that wants valid certificates; it is asked for again"
	case rec.Job != job.Network.Way(task.URL):
		again.Detail = "robots.txt could not be had by the way of another job or of an earlier revision; it is asked for again"
	default:
		return h.unavailable(ctx, job, task)
	}
	return again
}

// unavailable says why a page is not fetched whose robots.txt could not be had. If the whole host is unreachable, that
// is the better reason, and a lookup at the name server is enough to know it.
func (h *Handler) unavailable(ctx context.Context, job *crawl.Job, task *crawl.Task) Fault {
	if err := h.unreachable(ctx, job, task.URL, h.private(job)); err != nil {
		f, ok := diagnoseName(err)
		if told := (Fault{}); errors.As(err, &told) {
			f, ok = told, true
		}
		if ok && f.Verdict.Final() {
			return f
		}
	}
	return Fault{crawl.VerdictBlocked, crawl.ReasonRobotsDown,
		"robots.txt of " + task.URL.Origin() + " could not be had, so nothing may be fetched"}
}

// unreachable returns why no request can reach host, as far as names and addresses tell.
func (h *Handler) unreachable(ctx context.Context, job *crawl.Job, u weburl.URL, private bool) error {
	if h.proxied(job) {
		if private {
			return nil
		}
		return netguard.CheckHost(u.Hostname())
	}
	addrs, err := h.addresses(ctx, job, u)
	if err != nil || private {
		return err
	}
	var refused error
	for _, addr := range addrs {
		if refused = netguard.Check(addr); refused == nil {
			return nil
		}
	}
	return refused
}

// addresses are those that a request to u would connect to.
func (h *Handler) addresses(ctx context.Context, job *crawl.Job, u weburl.URL) (addrs []netip.Addr, err error) {
	r := routeOf(job, u, false)
	way, host := r.way(), u.Hostname()
	addrs, named := way.named(host, u.EffectivePort())
	if !named {
		if addrs, err = h.deps.DNS.Lookup(ctx, host); err != nil {
			return nil, err
		}
	}
	return way.only(host, addrs)
}

// robotsAnswer turns the answer to a robots.txt request, or its failure, into the origin's record (RFC 9309, section
// 2.3.1). An error it returns is a fault of ours.
func (h *Handler) robotsAnswer(ctx context.Context, a *attempt, failure error) error {
	if failure != nil {
		a.failed(failure)
		return h.noRobots(ctx, a)
	}
	status := a.out.Status
	switch {
	case status >= 200 && status < 300 && classOf(&a.answer) != classPart: // half the rules are none
		return h.robotsFile(ctx, a)
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		return h.robotsRedirect(ctx, a)
	}
	if err := h.leftover(ctx, a); err != nil {
		return err
	}
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		return h.robotsRecord(ctx, a, crawl.RobotsAllowAll, nil)
	}
	classify(status).settle(a.out)
	a.out.Verdict = crawl.VerdictRetry // whatever it would be to a page
	if a.out.Reason == "" {
		a.out.Reason, a.out.Detail = crawl.ReasonStatus, fmt.Sprintf("the server answered %d", status)
	}
	a.askedToWait()
	return h.noRobots(ctx, a)
}

// robotsFile reads the rules. What is beyond robots.MaxSize is not read.
func (h *Handler) robotsFile(ctx context.Context, a *attempt) error {
	b, err := a.body(robots.MaxSize)
	if err != nil {
		Fault{crawl.VerdictRefused, crawl.ReasonEncoding, err.Error()}.apply(a.out)
		return h.noRobots(ctx, a)
	}
	defer b.release()
	b.keep()
	if _, err := io.Copy(io.Discard, b); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.failed(err)
		return h.noRobots(ctx, a)
	}
	a.finish()
	a.out.ContentType, a.out.Bytes, a.out.Digest = mediaType(typeOf(a.answer.Header)), b.n, b.digest()
	if err := h.archive(ctx, a, b); err != nil {
		return err
	}
	return h.robotsRecord(ctx, a, crawl.RobotsRules, b.kept())
}

// robotsRedirect passes a redirect on: whose rules they are does not change by it. Too many redirects, or one that
// leads nowhere, mean that there are no rules.
func (h *Handler) robotsRedirect(ctx context.Context, a *attempt) error {
	if err := h.leftover(ctx, a); err != nil {
		return err
	}
	target, err := location(a)
	elsewhere := target.HostKey() != a.task.URL.HostKey()
	if err != nil || a.task.Redirects >= maxRobotsRedirects || elsewhere && target.HasBadPort() {
		return h.robotsRecord(ctx, a, crawl.RobotsAllowAll, nil)
	}
	a.redirected(target)
	a.out.Verdict = crawl.VerdictDone
	a.out.Robots = &crawl.RobotsOutcome{Origin: rulesOf(a.job, a.task), Redirect: target}
	return nil
}

// sitemapLinks are the sitemaps of the origin whose rules came: those that robots.txt names, else the one at the usual
// place, unless the crawl is too broad to ask every host for one.
func sitemapLinks(job *crawl.Job, task *crawl.Task, out *crawl.Outcome) []crawl.Event {
	r := out.Robots
	if r == nil || !r.Redirect.IsZero() || out.Verdict != crawl.VerdictDone || !job.Sitemaps || job.MaxDepth == 0 ||
		job.SeedsOnly {
		return nil
	}
	named := r.Sitemaps
	if len(named) == 0 && job.Scope != crawl.ScopeAny {
		named = []string{crawl.OriginOf(r.Origin) + "/sitemap.xml"}
	}
	origin, err := weburl.Parse(crawl.OriginOf(r.Origin))
	if err != nil {
		return nil
	}
	e := &crawl.Links{Task: *task}
	for _, raw := range named {
		if u, err := origin.Resolve(raw); err == nil {
			e.Links = append(e.Links, crawl.Link{URL: u, Tag: crawl.TagSitemapIndex})
		}
	}
	if len(e.Links) == 0 {
		return nil
	}
	return []crawl.Event{e}
}

// sitemapsAgain repeats the sitemaps of a robots.txt whose fetch was interrupted after its rules were stored: the file
// is not fetched again, so no other message would carry them. The links have the ids of the first delivery's, so their
// claims are the same.
func (h *Handler) sitemapsAgain(ctx context.Context, job *crawl.Job, f *crawl.Fetch) ([]crawl.Event, error) {
	if f.Task.Kind != crawl.KindRobots {
		return nil, nil
	}
	rec, found, err := h.deps.Robots.File(ctx, rulesOf(job, &f.Task))
	if err != nil || !found {
		return nil, err
	}
	return StoredSitemaps(job, &f.Task, &rec), nil
}

// StoredSitemaps is the *crawl.Links, if any, that a fetch of a robots.txt by this task would have brought, from what
// is stored of it.
func StoredSitemaps(job *crawl.Job, task *crawl.Task, rec *crawl.Robots) []crawl.Event {
	if rec.State == crawl.RobotsDisallowAll {
		return nil
	}
	return sitemapLinks(job, task,
		&crawl.Outcome{Verdict: crawl.VerdictDone, Robots: &crawl.RobotsOutcome{Origin: rec.Origin,
			Sitemaps: robots.Parse(rec.Body).Sitemaps()}})
}

// rulesOf names the rules that a KindRobots task fetches: see crawl.Job.RulesOf. A revision of the job may ask another
// server than the one that the task was made for.
func rulesOf(job *crawl.Job, task *crawl.Task) string { return job.RulesOf(ruled(task)) }

// ruled is a URL of the origin whose rules a KindRobots task fetches, which may be redirected to another.
func ruled(task *crawl.Task) weburl.URL {
	if u, err := weburl.Parse(crawl.OriginOf(task.For)); err == nil {
		return u
	}
	return task.URL
}

// robotsRecord stores what an answer says.
func (h *Handler) robotsRecord(ctx context.Context, a *attempt, state crawl.RobotsState, text []byte) error {
	now, agent, file := time.Now(), a.job.RobotsAgent(), robots.Parse(text)
	delay, _ := file.Agent(agent).CrawlDelay()
	rec := crawl.Robots{Origin: rulesOf(a.job, a.task), State: state, Status: a.out.Status, Body: text, FetchedAt: now,
		Job: lifeOf(a.job), Expires: now.Add(goodFor(a.job, delay, now.Sub(a.out.Started)))}
	if err := h.deps.Robots.Put(ctx, rec, agent); err != nil {
		return err
	}
	a.out.Verdict = crawl.VerdictDone
	a.out.Robots = &crawl.RobotsOutcome{Origin: rec.Origin, Expires: rec.Expires, CrawlDelay: delay,
		Sitemaps: file.Sitemaps()}
	return nil
}

// keepRules lets the rules that are there stand for another while where they could not be asked for again: they are
// good for a day (RFC 9309, 2.4). It reports whether there are any.
func (h *Handler) keepRules(ctx context.Context, a *attempt, now time.Time) (bool, error) {
	rec, found, err := h.deps.Robots.File(ctx, rulesOf(a.job, a.task))
	last := rec.FetchedAt.Add(crawl.MaxRobotsRefresh)
	if err != nil || !found || rec.State == crawl.RobotsDisallowAll || !now.Before(last) {
		return false, err
	}
	rec.Origin, rec.Expires = rulesOf(a.job, a.task), now.Add(robotsDown)
	if rec.Expires.After(last) {
		rec.Expires = last
	}
	agent := a.job.RobotsAgent()
	if err := h.deps.Robots.Put(ctx, rec, agent); err != nil {
		return false, err
	}
	delay, _ := rec.Rules(agent).CrawlDelay()
	a.out.Robots = &crawl.RobotsOutcome{Origin: rec.Origin, Expires: rec.Expires, CrawlDelay: delay}
	return true, nil
}

// noRobots deals with a robots.txt that could not be had: it is asked for again while the job has retries, and where
// that is of no use nothing of the origin may be fetched for a while.
func (h *Handler) noRobots(ctx context.Context, a *attempt) error {
	if a.out.Verdict == crawl.VerdictRetry {
		if a.task.Attempt < a.job.Retry.Max || crawl.OurTrouble(a.out.Reason) {
			return nil
		}
		a.out.Verdict = crawl.VerdictFailed
	}
	now, rest := time.Now(), robotsDown
	if a.out.Reason == crawl.ReasonPrivateAddress {
		rest = robotsRefused
	} else if kept, err := h.keepRules(ctx, a, now); kept || err != nil {
		return err
	}
	if a.out.Reason == crawl.ReasonTLS && !a.job.Network.Insecure {
		rest = robotsUnverified
	}
	rec := crawl.Robots{Origin: rulesOf(a.job, a.task), State: crawl.RobotsDisallowAll, Status: a.out.Status,
		FetchedAt: now, Expires: now.Add(rest), Job: a.job.Network.Way(ruled(a.task))}
	if err := h.deps.Robots.Put(ctx, rec, a.job.RobotsAgent()); err != nil {
		return err
	}
	a.out.Robots = &crawl.RobotsOutcome{Origin: rec.Origin, Expires: rec.Expires}
	return nil
}

// robotsUnverified is for how long nothing of an origin is fetched whose certificate is not valid, but by a job that
// does not mind. No other record lasts as long.
const robotsUnverified = robotsDown + time.Second

// unverified reports whether a robots.txt could not be had for want of a valid certificate.
func unverified(rec *crawl.Robots) bool {
	return rec.State == crawl.RobotsDisallowAll && rec.Status == 0 && rec.Expires.Sub(rec.FetchedAt) == robotsUnverified
}
