package fakeweb

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// answer is what is sent back for one request. Its slices are reused from request to request.
type answer struct {
	status     int
	retryAfter int // seconds; 0 for none
	headers    []byte
	body       []byte
	etag       string
	modified   time.Time
	gzip       bool          // may be compressed
	drip       time.Duration // between two bytes of the body; 0 sends it at once
	hold       bool          // no byte is ever sent
}

func (a *answer) reset() {
	*a = answer{headers: a.headers[:0], body: a.body[:0]}
}

// ok starts a successful answer of a media type.
func (a *answer) ok(mediaType string) {
	a.status = http.StatusOK
	a.header("Content-Type", mediaType)
}

func (a *answer) header(name, value string) {
	a.headers = append(append(append(append(a.headers, name...), ": "...), value...), "\r\n"...)
}

// fail answers with an error page that names its status, like those of real servers.
func (a *answer) fail(status int) {
	a.status = status
	a.header("Content-Type", "text/html; charset=utf-8")
	a.body = append(a.body, "<html><head><title>"...)
	a.body = strconv.AppendInt(a.body, int64(status), 10)
	a.body = append(append(a.body, ' '), http.StatusText(status)...)
	a.body = append(a.body, "</title></head><body><p>Nothing to see. <a href=\"/\">Start</a></p></body></html>\n"...)
}

// answerTo fills a with the answer to a request for target (path and query) at a host, so long after the web began.
// visits counts how often a page that is unavailable at first was asked for; it is called for no other.
func (w *Web) answerTo(a *answer, host string, target []byte, at time.Duration, visits func(id int) int) {
	h, ok := w.parseHost(host)
	switch {
	case !ok:
		a.fail(http.StatusMisdirectedRequest)
	case h.kind == slow:
		w.answerSlow(a, h.n, target)
	case h.kind == trap:
		w.answerTrap(a, h, target)
	case h.kind == ordinary:
		w.answerOrdinary(a, h.n, target, at, visits)
	default:
		a.fail(http.StatusForbidden) // dead and unknown hosts are never reached, rebinding ones must not be
	}
}

func (w *Web) answerOrdinary(a *answer, host int, target []byte, at time.Duration, visits func(int) int) {
	a.gzip = w.compresses(host)
	if r, ok := w.find(host, target); ok {
		w.answerPage(a, r, at, visits)
		return
	}
	switch {
	case string(target) == "/robots.txt":
		w.answerRobots(a, host)
	case string(target) == movedRobots && w.cfg.Robots:
		w.answerRules(a, host, false)
	case bytes.HasPrefix(target, []byte("/assets/")):
		a.asset(target)
	case w.answerSitemap(a, host, target):
	default:
		a.fail(http.StatusNotFound)
	}
}

// compresses says whether a host compresses its answers.
func (w *Web) compresses(host int) bool {
	return unit(hash(w.cfg.Seed, purposeHost, uint64(host), 5)) < w.cfg.Gzip
}

// asset answers for pictures and styles: the least that has the right type.
func (a *answer) asset(target []byte) {
	if bytes.HasSuffix(target, []byte(".jpg")) {
		a.ok("image/jpeg")
		a.body = append(a.body, "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"...)
		return
	}
	a.ok("text/css")
	a.body = append(a.body, "body{color:#222;background:url(/assets/1-480.jpg)}\n"...)
}

// answerPage answers for a page of an ordinary host.
func (w *Web) answerPage(a *answer, r pageRef, at time.Duration, visits func(int) int) {
	switch k := w.class(r); k {
	case redirecting:
		w.answerRedirect(a, r)
	case missing:
		a.fail(w.missingStatus(r))
	case unavailable:
		if n, status, after := w.refusal(r); visits(w.id(r)) < n {
			a.fail(status)
			a.retryAfter = after
			return
		}
		w.answerHTML(a, r, edition{})
	case changing:
		w.answerHTML(a, r, edition{version: w.version(r, at)})
	case exactCopy, nearCopy:
		c, _ := w.copied(r)
		e := edition{}
		if k == nearCopy {
			e.edit = w.draw(purposeCopy, r) | 1
		}
		w.answerHTML(a, c, e)
	default:
		w.answerHTML(a, r, edition{})
	}
}

// answerHTML sends a page that is there, with validators for conditional requests.
func (w *Web) answerHTML(a *answer, r pageRef, e edition) {
	a.ok("text/html; charset=utf-8")
	tag := hash(w.cfg.Seed, purposeText, w.content(r), e.version, e.edit)
	a.etag = `"` + strconv.FormatUint(tag, 36) + `"`
	a.modified = w.lastModified(r, e.version)
	if d := w.detail(r); d.tag {
		switch {
		case d.noindex:
			a.header("X-Robots-Tag", "noindex")
		case d.nofollow:
			a.header("X-Robots-Tag", "otherbot: noindex, nofollow")
			a.header("X-Robots-Tag", "nofollow")
		}
	}
	a.body = w.appendPage(a.body, r, e)
}

// lastModified is when a page says it changed: some time in 2024, and a period later for every change.
func (w *Web) lastModified(r pageRef, version uint64) time.Time {
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	age := time.Duration(w.draw(purposeChange, r)%(366*24*3600)) * time.Second
	return first.Add(age + time.Duration(version)*max(w.period(r), time.Second))
}

// content numbers the content of a page that has its own.
func (w *Web) content(r pageRef) uint64 { return w.draw(purposeText, r) }

// answerRedirect sends one of the four statuses, half of the targets on the same host as a path.
func (w *Web) answerRedirect(a *answer, r pageRef) {
	a.status = w.redirectStatus(r)
	to := w.target(r)
	a.headers = append(a.headers, "Location: "...)
	if to.host != r.host || w.draw(purposeText, r)%2 == 0 {
		a.headers = w.appendOrigin(a.headers, hostRef{ordinary, to.host})
	}
	a.headers = append(w.appendPath(a.headers, to), "\r\n"...)
}

func (w *Web) redirectStatus(r pageRef) int {
	return [...]int{301, 301, 302, 303, 307, 308}[w.draw(purposeRetry, r)%6]
}

func (w *Web) missingStatus(r pageRef) int {
	return [...]int{404, 404, 404, 410}[w.draw(purposeRetry, r)%4]
}

// refusal is how often, with which status and which Retry-After in seconds an unavailable page refuses.
func (w *Web) refusal(r pageRef) (visits, status, retryAfter int) {
	u := w.draw(purposeRetry, r)
	return 1 + int(u%2), [...]int{503, 429}[u>>8%2], 1 + int(u>>16%3) + int(w.cfg.RetryAfter/time.Second)
}

// appendGzip appends data as one gzip member.
func appendGzip(dst, data []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return append(dst, data...) // the level is a constant of the package
	}
	z.Write(data) // a bytes.Buffer takes everything
	z.Close()
	return append(dst, out.Bytes()...)
}
