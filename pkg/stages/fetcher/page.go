package fetcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// MaxSitemap is the least limit of a sitemap's decoded size (sitemaps.org allows 50 MiB); limits.max_body may be more.
const MaxSitemap = 50 << 20

// bodyLimit is how many decoded octets of an answer are taken.
func bodyLimit(job *crawl.Job, kind crawl.Kind) int64 {
	if kind == crawl.KindSitemap {
		return max(int64(job.Limits.MaxBody), MaxSitemap)
	}
	return int64(job.Limits.MaxBody)
}

// pageAnswer turns the answer to a page's or sitemap's request into events. An error is a fault of ours.
func (h *Handler) pageAnswer(ctx context.Context, a *attempt) ([]crawl.Event, error) {
	c := classOf(&a.answer)
	if a.login > 0 && h.logins.refused(a, c) {
		a.drain()
		return nil, h.logins.over(ctx, a)
	}
	a.settle(c)
	switch forgot, err := h.forgetCookies(ctx, a); {
	case forgot || err != nil:
		return nil, errors.Join(err, h.leftover(ctx, a))
	case c == classGone && a.mayBeShell():
		return h.shell(ctx, a)
	}
	return h.answerOf(ctx, a, c)
}

// settle gives the outcome the verdict of a class, with what the answer says of it.
func (a *attempt) settle(c class) {
	c.settle(a.out)
	if a.task.Kind == crawl.KindResource && a.out.Status == http.StatusInternalServerError {
		a.out.Slow = false // what a script asked for fails there, as visitors see it daily; the host is well
	}
	a.sayChallenge()
}

// answerOf turns an answer of a class into events.
func (h *Handler) answerOf(ctx context.Context, a *attempt, c class) ([]crawl.Event, error) {
	switch c {
	case classPage:
		events, err := h.page(ctx, a)
		if a.out.Verdict == crawl.VerdictDone {
			a.noteValidators()
		}
		return events, err
	case classBroken:
		return nil, nil
	case classRedirect:
		if a.task.Kind == crawl.KindResource {
			return nil, h.resourceElsewhere(ctx, a)
		}
		if err := h.leftover(ctx, a); err != nil {
			return nil, err
		}
		return h.redirect(ctx, a)
	case classNoBody:
		if a.task.Kind == crawl.KindResource { // a page waits for it
			return nil, errors.Join(h.leftover(ctx, a), h.keepResource(ctx, a, nil, ""))
		}
	case classSame:
		if !isConditional(a.task) {
			a.out.Verdict, a.out.Reason = crawl.VerdictGone, crawl.ReasonStatus
			a.out.Detail = "the server answered 304 though nothing was asked to be compared"
			break
		}
		a.noteValidators()
	}
	a.askedToWait()
	if a.task.Kind == crawl.KindResource && (c == classGone || c == classBlocked) {
		return nil, h.resourceRefused(ctx, a)
	}
	return nil, h.leftover(ctx, a)
}

// askedToWait notes Retry-After. The host that sends it asks for rest, whatever the status.
func (a *attempt) askedToWait() {
	if a.out.Verdict == crawl.VerdictRetry {
		a.noteRetryAfter()
	}
}

func (a *attempt) noteRetryAfter() {
	a.out.RetryAfter = retryAfter(a.answer.Header, a.answer.At, a.job.Retry.SlowMax.D())
	a.out.Slow = a.out.Slow || a.out.RetryAfter > 0
}

// page spools a body that is wanted.
func (h *Handler) page(ctx context.Context, a *attempt) ([]crawl.Event, error) {
	b, err := a.body(bodyLimit(a.job, a.task.Kind))
	if err != nil {
		Fault{crawl.VerdictRefused, crawl.ReasonEncoding, err.Error()}.apply(a.out)
		return nil, nil
	}
	defer b.release()
	h.keepCopy(a, b)
	if a.task.Kind == crawl.KindResource {
		b.keep()
	}
	value, err := contentType(a.answer.Header, b)
	if err != nil {
		a.failed(err)
		return nil, nil
	}
	media := mediaType(value)
	a.out.ContentType = media
	switch {
	case a.task.Kind == crawl.KindResource:
		return nil, h.resource(ctx, a, b, value)
	case a.task.Kind == crawl.KindAsset:
		return h.asset(ctx, a, b, value)
	case !a.wants(media):
		if a.job.Assets.Wanted() && isAsset(media) {
			return nil, h.besides(ctx, a, b, media)
		}
		a.out.Verdict, a.out.Reason = crawl.VerdictRefused, crawl.ReasonMediaType
		a.out.Detail = fmt.Sprintf("media type %q is not among media_types", cut(media))
		return nil, nil
	}
	return h.spool(ctx, a, b, value)
}

func (a *attempt) wants(media string) bool {
	if a.task.Kind == crawl.KindSitemap {
		return acceptsSitemap(media)
	}
	return accepts(a.job.MediaTypes, media) || a.task.Seed && isFeed(media) || // the user names it: a sitemap or feed
		a.job.SelectsJSON(media)
}

// spool puts the body into the spool and the exchange into the archive.
func (h *Handler) spool(ctx context.Context, a *attempt, b *body, contentType string) ([]crawl.Event, error) {
	ref, err := h.deps.Bodies.Put(ctx, b)
	if b.fault() != nil {
		if err == nil {
			err = h.deps.Bodies.Release(ctx, ref)
		} else {
			err = nil // it is the body's
		}
		a.failed(b.fault())
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("spool the body: %w", err)
	}
	a.finish()
	if a.login > 0 && !h.logins.shown(ctx, a, b.kept(), contentType) {
		return nil, errors.Join(h.deps.Bodies.Release(ctx, ref), h.logins.over(ctx, a))
	}
	page := a.page(b, ref, contentType)
	if err := h.archive(ctx, a, b); err != nil {
		_ = h.deps.Bodies.Release(ctx, ref) // the archive's error is the one to report
		return nil, err
	}
	page.Capture = a.capture
	return []crawl.Event{page}, nil
}

// page describes a spooled body and notes in the outcome what both have in common.
func (a *attempt) page(b *body, ref crawl.BodyRef, contentType string) *crawl.Page {
	p := &crawl.Page{Task: *a.task, Status: a.out.Status, FetchedAt: a.out.Started, ContentType: contentType, Body: ref,
		Bytes: b.n, Digest: b.digest(), LinkHeaders: a.answer.Header["Link"], RobotsTags: a.answer.Header["X-Robots-Tag"],
		Refresh: a.answer.Header.Get("Refresh"), Insecure: a.out.Insecure, Plugged: a.change.Plugged}
	if a.job.Revisits() {
		p.LastModified = validator(a.answer.Header.Get("Last-Modified"))
	}
	if b.cut {
		p.Truncated = crawl.ReasonTruncatedMaxBody
	}
	a.out.Bytes, a.out.Digest = p.Bytes, p.Digest
	return p
}
