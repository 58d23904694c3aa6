package fetcher

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxLoop is how many URLs the loops have that are looked for; limits.redirects ends longer chains.
const maxLoop = 20

// redirect makes the target of a redirect a link: it is a URL of its own, to be checked and leased like any other. An
// error is a fault of ours.
func (h *Handler) redirect(ctx context.Context, a *attempt) ([]crawl.Event, error) {
	refuse := func(reason, format string, args ...any) {
		a.out.Verdict, a.out.Reason, a.out.Detail = crawl.VerdictRefused, reason, fmt.Sprintf(format, args...)
	}
	target, err := location(a)
	if err != nil {
		refuse(crawl.ReasonRedirectTarget, "%v", err)
		return nil, nil
	}
	a.redirected(target)
	loop, err := h.loop(ctx, a, a.job.Canonicalizer().Canonical(target))
	switch {
	case err != nil:
		return nil, err
	case len(loop) == 1 && a.newCookies:
		a.out.Verdict, a.out.Reason = crawl.VerdictRetry, crawl.ReasonCookie
		a.out.Detail = "it redirects to itself and sets a cookie: asked again with that"
		return nil, nil
	case len(loop) > 1 && h.endsWithCookies(ctx, a, target):
		a.out.Reason = crawl.ReasonCookie
		a.out.Detail = "it leads back to a URL that is asked again, with the cookies that were set"
		return nil, nil
	case loop != nil:
		a.out.Verdict, a.out.Reason, a.out.Detail = crawl.VerdictFailed, crawl.ReasonRedirectLoop, loopText(loop)
		return nil, h.failLoop(ctx, a, loop)
	case a.task.Redirects >= a.job.Limits.Redirects:
		refuse(crawl.ReasonRedirects, "redirected once more after %d redirects; limits.redirects is the bound",
			a.task.Redirects)
		return nil, nil
	}
	return []crawl.Event{&crawl.Links{Task: *a.task, Links: []crawl.Link{{URL: target, Tag: crawl.TagRedirect}}}}, nil
}

// endsWithCookies reports whether a loop of redirects may end where its site gets the cookies that it has set since:
// those of a consent, of a choice of language, or of a visit to another host. Its start is asked once more.
func (h *Handler) endsWithCookies(ctx context.Context, a *attempt, start weburl.URL) bool {
	if a.task.Asked || a.task.Visit > 0 {
		return false
	}
	jar, err := h.jars.get(ctx, a.job, start.Hostname())
	return err == nil && jar != nil && len(jar.Cookies) > 0 // without the store of cookies it is a loop, as ever
}

// redirected notes where a redirect leads. One within a host may ask to wait until that is asked for.
func (a *attempt) redirected(target weburl.URL) {
	if a.out.Location = target; target.HostKey() == a.task.URL.HostKey() {
		a.noteRetryAfter()
	}
}

// loop notes a redirect, and returns the URLs of the loop that it closes, this one first; nil: none. It notes first, so
// that of those who close a loop at the same time one sees it. The target is in the form that the URL filter gives it:
// it is this URL again where only what the filter strips is different, as session ids are.
func (h *Handler) loop(ctx context.Context, a *attempt, target weburl.URL) ([]weburl.URL, error) {
	self := a.task.URL
	if target == self {
		return []weburl.URL{self}, nil
	}
	if h.deps.Redirects == nil {
		return nil, nil
	}
	if err := h.deps.Redirects.Redirect(ctx, a.task.Job, self, target); err != nil {
		return nil, err
	}
	for chain := []weburl.URL{self}; len(chain) < maxLoop; {
		chain = append(chain, target)
		next, found, err := h.deps.Redirects.Target(ctx, a.task.Job, target)
		if err != nil || !found {
			return nil, err
		}
		if next == self {
			return chain, nil
		}
		target = next
	}
	return nil, nil
}

// failLoop gives the other URLs of a redirect loop the same outcome as this one: when they were fetched, the loop was
// not known yet. Each gets one more line in crawl.log.
func (h *Handler) failLoop(ctx context.Context, a *attempt, loop []weburl.URL) error {
	if len(loop) == 1 || h.deps.Ledger == nil {
		return nil
	}
	keys := make([]weburl.Key, len(loop)-1)
	for i, u := range loop[1:] {
		keys[i] = u.Key()
	}
	entries, err := h.deps.Ledger.Lookup(ctx, a.task.Job, keys...)
	if err != nil {
		return fmt.Errorf("a loop of redirects: %w", err)
	}
	now, priority := time.Now(), a.task.Priority // a redirect's target has that of its source
	if priority == crawl.DefaultPriority {
		priority = 0
	}
	for i, e := range entries {
		if e.State != crawl.StateDone || e.Verdict != crawl.VerdictDone || e.Status/100 != 3 {
			continue
		}
		turned := append(append([]weburl.URL{}, loop[i+1:]...), loop[:i+1]...)
		line := crawl.LogLine{Job: a.task.Job, At: now, URL: turned[0], Kind: e.Kind, Verdict: crawl.VerdictFailed,
			Status: e.Status, Reason: crawl.ReasonRedirectLoop, Detail: loopText(turned), Attempt: e.Attempts,
			Depth: a.task.Depth, Location: append(turned, turned[0])[1], Referrer: loop[i], Priority: priority, Epoch: e.Epoch,
			Visit: int(e.Visit)}
		e.Verdict, e.Reason, e.At, e.First = crawl.VerdictFailed, crawl.ReasonRedirectLoop, now, false
		err := h.deps.Ledger.Reopen(ctx, a.task.Job, e.Key) // else the first outcome stands
		if err == nil {
			err = h.deps.Ledger.Finish(ctx, a.task.Job, e)
		}
		if err != nil {
			return fmt.Errorf("a loop of redirects: %w", err)
		}
		if h.deps.Attempts == nil {
			continue
		}
		if err := h.deps.Attempts.Append(ctx, line); err != nil {
			return fmt.Errorf("a loop of redirects: %w", err)
		}
	}
	return nil
}

// loopText says for people how a loop goes.
func loopText(loop []weburl.URL) string {
	if len(loop) == 1 {
		return "it redirects to itself; a session id that is stripped, or a cookie, where none is kept, may be meant to " +
			"end that"
	}
	const few = 4
	var names []string
	for _, u := range loop[1:min(len(loop), few)] {
		names = append(names, cut(u.String()))
	}
	if len(loop) > few {
		names = append(names, fmt.Sprintf("%d more", len(loop)-few))
	}
	return "its redirects lead back to it, by " + strings.Join(names, ", ")
}

// maxLocation bounds the URL of a redirect, as that of a link in a page is bound. What is longer than a URL may be, but
// not so long, is a link that the URL filter leaves out.
const maxLocation = 8 << 10

// location returns where a redirect leads.
func location(a *attempt) (weburl.URL, error) {
	value := a.answer.Header.Get("Location")
	if value == "" {
		return weburl.URL{}, fmt.Errorf("the server answered %d without a Location", a.out.Status)
	}
	if len(value) > maxLocation {
		return weburl.URL{}, fmt.Errorf("the server redirects to a URL of %d bytes, %q; %d are read", len(value), cut(value),
			maxLocation)
	}
	if !utf8.ValidString(value) { // as browsers do: whatwg/fetch #883
		value = escapeBytes(value)
	}
	target, err := a.task.URL.Resolve(value)
	if err != nil {
		return weburl.URL{}, fmt.Errorf("the server redirects to %q, which cannot be crawled", cut(value))
	}
	return target, nil
}

// escapeBytes percent-encodes what is not ASCII.
func escapeBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
