package fetcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// How long resources hold. Programs are asked for again after a day at the earliest, whatever their answers say (as
// Google's renderer does): they change with a site's releases. Answers with data hold for an hour.
const (
	programHolds = 24 * time.Hour
	hashedHolds  = 30 * 24 * time.Hour // of a program whose name changes with it
	dataHolds    = time.Hour
)

// errNoResources says that a task came that cannot be done here.
var errNoResources = errors.New("no resources are kept here")

// resource keeps an answer that a render needs.
func (h *Handler) resource(ctx context.Context, a *attempt, b *body, contentType string) error {
	_, _ = io.Copy(io.Discard, b) // its error is the body's
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !a.streams(b, contentType) && a.broke(b) {
		return nil
	}
	a.finish()
	a.out.Bytes, a.out.Digest = b.n, b.digest()
	if err := h.archive(ctx, a, b); err != nil {
		return err
	}
	return h.keepResource(ctx, a, b.kept(), contentType)
}

// streams reports whether a body that was waited for in vain, twice, is a stream of data that is left open: a browser
// shows what has come of it. Part of a program, or of a style, is of no use.
func (a *attempt) streams(b *body, contentType string) bool {
	fault := b.fault()
	media := mediaType(contentType)
	return a.task.Attempt > 0 && b.n > 0 && !isAsset(media) && media != "application/wasm" &&
		(errors.Is(fault, errIdle) || errors.Is(fault, errTooSlow) || errors.Is(fault, errTotal))
}

// resourceElsewhere keeps a redirect: the browser follows it, and asks for its target.
func (h *Handler) resourceElsewhere(ctx context.Context, a *attempt) error {
	if err := h.leftover(ctx, a); err != nil {
		return err
	}
	target, err := location(a)
	if err != nil {
		a.out.Verdict, a.out.Reason, a.out.Detail = crawl.VerdictRefused, crawl.ReasonRedirectTarget, err.Error()
		return nil //nolint:nilerr // it is the outcome
	}
	a.out.Location = target
	return h.keepResource(ctx, a, nil, "")
}

// resourceRefused keeps an error that is final, with its body: programs say by it that there is no such item, or that
// one has to sign in.
func (h *Handler) resourceRefused(ctx context.Context, a *attempt) error {
	b, err := a.body(min(int64(a.job.Limits.MaxBody), errorBody))
	if err != nil { // an encoding that is unknown
		return errors.Join(h.leftover(ctx, a), h.keepResource(ctx, a, nil, ""))
	}
	defer b.release()
	b.keep()
	_, _ = io.Copy(io.Discard, b) // what came is kept; the verdict is the status's
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.finish()
	if err := h.archive(ctx, a, b); err != nil {
		return err
	}
	return h.keepResource(ctx, a, b.kept(), typeOf(a.answer.Header))
}

func (h *Handler) keepResource(ctx context.Context, a *attempt, body []byte, contentType string) error {
	if h.deps.Resources == nil {
		return crawl.Permanent(fmt.Errorf("fetch %s: %w", a.task.URL, errNoResources))
	}
	now := time.Now()
	r := crawl.Resource{URL: a.task.URL, Status: a.out.Status, Header: a.heeded(contentType), Body: body,
		Digest: a.out.Digest, At: now, Expires: now.Add(holds(a.task, a.answer.Header, contentType)),
		Took: a.out.Ended.Sub(a.out.Started)}
	if r.Status >= http.StatusBadRequest {
		r.Expires = now.Add(dataHolds)
	}
	return h.deps.Resources.PutResource(ctx, a.task.Job, r)
}

// heeded are the fields that a browser heeds of an answer that comes decoded and from a store. Scripts read some of the
// cookies that it sets, and send them back in fields of their own.
func (a *attempt) heeded(contentType string) map[string][]string {
	out := map[string][]string{}
	for name, values := range a.answer.Header {
		switch n := http.CanonicalHeaderKey(name); {
		case n == "Set-Cookie" && a.job.KeepsCookies() && len(values) <= mostCookies,
			n == "Location", n == "Link", n == "X-Content-Type-Options", n == "Sourcemap", n == "Etag", n == "X-Total-Count",
			n == "X-Robots-Tag", n == "Content-Disposition", strings.HasPrefix(n, "Access-Control-"),
			strings.HasPrefix(n, "X-") && len(values) < 8 &&
				n != "X-Frame-Options":
			out[n] = values
		}
	}
	if contentType != "" {
		out["Content-Type"] = []string{contentType}
	}
	return out
}

// mostCookies is how many cookies of an answer are shown to scripts; a browser keeps 180 of a site.
const mostCookies = 50

// hashed finds a name that has the hash of what it names.
var hashed = regexp.MustCompile(`[0-9a-fA-F]{8}|[-.][A-Za-z0-9_-]{8}\.m?js$`)

// holds is how long an answer holds.
func holds(t *crawl.Task, h http.Header, contentType string) time.Duration {
	media := mediaType(contentType)
	if !isAsset(media) && media != "application/wasm" {
		return dataHolds
	}
	if hashed.MatchString(t.URL.Path()) {
		return hashedHolds
	}
	return min(max(maxAge(h), programHolds), hashedHolds)
}

// maxAge is how long an answer says that it is fresh (RFC 9111, 5.2.2.1); 0: it does not say.
func maxAge(h http.Header) time.Duration {
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			if !strings.EqualFold(name, "max-age") {
				continue
			}
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil && n > 0 {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}
