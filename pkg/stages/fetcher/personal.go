package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// personal returns what is in the header of a request besides what all jobs send; nil: nothing. A secret that
// cannot be read is a Fault; another error is a fault of ours.
func (h *Handler) personal(ctx context.Context, job *crawl.Job, u weburl.URL, withCookies bool) (http.Header, error) {
	var id *identity
	if job.Asks() {
		var err error
		if id, err = h.identities.Of(job); err != nil {
			return nil, err
		}
	}
	var jar *crawl.Jar
	if withCookies {
		var err error
		if jar, err = h.jars.get(ctx, job, u.Hostname()); err != nil {
			return nil, err
		}
	}
	if id == nil && (jar == nil || len(jar.Cookies) == 0) {
		return nil, nil
	}
	out := http.Header{}
	if id != nil {
		id.header(out, u)
	}
	if value := cookieHeader(id, jar, u, withCookies); value != "" {
		out["Cookie"] = []string{value}
	}
	return out, nil
}

func cookieHeader(id *identity, jar *crawl.Jar, u weburl.URL, withCookies bool) string {
	if !withCookies {
		return ""
	}
	var kept []cookies.Cookie
	if jar != nil {
		kept = jar.Cookies
	}
	p, now := placeOf(u), time.Now()
	if id != nil {
		kept = id.jar(kept, u, &p, now)
	}
	return cookies.Header(kept, &p, now)
}

// keepCookies puts what an answer sets into the jar of its site, and reports whether that changed it. What the user
// gave is not stored because a server says it again.
func (h *Handler) keepCookies(ctx context.Context, job *crawl.Job, u weburl.URL,
	header http.Header) (changed bool, err error) {
	lines := header["Set-Cookie"]
	if len(lines) == 0 || h.jars.of(job) == nil {
		return false, nil
	}
	var keep func(*cookies.Cookie) bool
	if job.Asks() {
		id, err := h.identities.Of(job)
		if err != nil {
			return false, err
		}
		keep = func(c *cookies.Cookie) bool { return !id.given[c.Value] }
	}
	p, now := placeOf(u), time.Now()
	_, err = h.jars.update(ctx, job, u.Hostname(), func(jar *crawl.Jar) bool {
		var next []cookies.Cookie
		next, changed = cookies.SetAll(jar.Cookies, lines, &p, now, keep)
		if changed && h.bombed.has(u.HostKey()) && len(cookies.Header(next, &p, now)) >= manyCookies {
			changed = false // the next page would be refused again
		}
		if changed {
			jar.Cookies = next
		}
		return changed
	})
	return changed, err
}

// manyCookies is how long a Cookie field is that servers refuse as a bad request: most read lines of 8 KiB.
const manyCookies = 4 << 10

// forgetCookies forgets the cookies of a site that refuses them as too many, as people do with "cookie bombs": they
// would shut it for ever. It reports whether there were any: the page is asked for again, then.
func (h *Handler) forgetCookies(ctx context.Context, a *attempt) (forgot bool, err error) {
	sent := len(a.exchange.Sent().Get("Cookie"))
	switch a.out.Status {
	case http.StatusRequestHeaderFieldsTooLarge:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		if sent < manyCookies {
			return false, nil
		}
	default:
		return false, nil
	}
	if sent == 0 || h.jars.of(a.job) == nil {
		return false, nil
	}
	p, now := placeOf(a.task.URL), time.Now()
	_, err = h.jars.update(ctx, a.job, a.task.URL.Hostname(), func(jar *crawl.Jar) bool {
		kept := slices.DeleteFunc(slices.Clone(jar.Cookies), func(c cookies.Cookie) bool { return c.For(&p, now) })
		forgot, jar.Cookies = len(kept) < len(jar.Cookies), kept
		return forgot
	})
	if forgot {
		h.bombed.note(a.task.URL.HostKey())
		a.out.Verdict, a.out.Reason = crawl.VerdictRetry, crawl.ReasonCookie
		a.out.Detail = fmt.Sprintf("the server answered %d to all the cookies that it set: they are forgotten, and it is "+
			"asked again without them", a.out.Status)
	}
	return forgot, err
}

const redacted = "redacted"

// redact takes out of a request's header, and out of the answer's, what would let a reader of the archive in.
func (h *Handler) redact(job *crawl.Job, sent, answered http.Header) {
	secrets := []string{"Authorization", "Cookie", "Proxy-Authorization"}
	if job.Asks() {
		if id, err := h.identities.Of(job); err == nil {
			secrets = append(secrets, id.secrets...)
		}
	}
	for _, name := range secrets {
		if sent[name] != nil {
			sent[name] = []string{redacted}
		}
	}
	if !job.Authenticates() { // without authentication a cookie gives no access
		return
	}
	for i, line := range answered["Set-Cookie"] {
		pair, attributes, _ := strings.Cut(line, ";")
		name, _, named := strings.Cut(pair, "=")
		if !named { // it is a value
			name = ""
		}
		answered["Set-Cookie"][i] = name + "=" + redacted + ";" + attributes
	}
}
