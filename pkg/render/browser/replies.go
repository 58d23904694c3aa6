package browser

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

func (r *rendering) reply(a *asked, answer render.Answer) {
	switch {
	case a.action.kind == empty:
		a.fulfil(render.Answer{Status: 200, Header: http.Header{"Content-Type": {"text/css"}}})
	case a.action.kind == blank:
		a.fulfil(render.Answer{Status: 200, Header: http.Header{"Content-Type": {"image/gif"}}, Body: pixel})
	case a.action.kind == preflight:
		a.fulfil(render.Answer{Status: 204, Header: http.Header{
			"Access-Control-Allow-Methods": {"GET, HEAD"}, "Access-Control-Allow-Headers": {a.headers}}})
	case a.main && !shown(answer): // an error page, or nothing, would take the place of the document
		r.mu.Lock()
		r.repeated = true // the page stays the one whose time passes
		r.mu.Unlock()
		a.fail(aborted)
	case answer.Fail != "":
		a.fail(answer.Fail)
	default:
		a.fulfil(answer)
	}
}

// shown reports whether the browser would show an answer as a document to read, or go where it leads. Errors, downloads
// and files of other kinds it answers with pages of its own.
func shown(answer render.Answer) bool {
	switch {
	case answer.Fail != "":
		return false
	case answer.Status/100 == 3 && answer.Header.Get("Location") != "":
		return true
	case answer.Status/100 != 2 || len(answer.Body) == 0:
		return false
	}
	disposition, _, _ := strings.Cut(answer.Header.Get("Content-Disposition"), ";")
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "", "text/html", "application/xhtml+xml", "text/plain":
		return !strings.EqualFold(strings.TrimSpace(disposition), "attachment")
	}
	return false
}

func (a *asked) fail(reason string) {
	a.session.tell(fetch.CommandFailRequest,
		fetch.FailRequestParams{RequestID: a.id, ErrorReason: network.ErrorReason(reason)})
}

// hopByHop are headers of a transfer that is over: the body is decoded and whole.
var hopByHop = []string{"Content-Encoding", "Transfer-Encoding", "Content-Length", "Connection", "Keep-Alive",
	"Alt-Svc"}

func (a *asked) fulfil(answer render.Answer) {
	p := fetch.FulfillRequestParams{RequestID: a.id, ResponseCode: int64(answer.Status), Body: answer.Body}
	if a.sub.Method == http.MethodHead {
		p.Body = nil
	}
	if p.ResponseCode < 100 {
		p.ResponseCode = 200
	}
	for name, values := range a.allowed(answer.Header) {
		if slices.Contains(hopByHop, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, v := range values {
			p.ResponseHeaders = append(p.ResponseHeaders, &fetch.HeaderEntry{Name: name, Value: strings.ToValidUTF8(v, "?")})
		}
	}
	slices.SortStableFunc(p.ResponseHeaders, func(a, b *fetch.HeaderEntry) int { return strings.Compare(a.Name, b.Name) })
	a.session.tell(fetch.CommandFulfillRequest, p)
}

// allowed adds to the header of an answer that a page of another origin may read it. What the server said of that does
// not count: the fetcher asked without an origin, and the browser holds nothing that is to be kept from a page.
func (a *asked) allowed(h http.Header) http.Header {
	if a.origin == "" {
		return h
	}
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	names := slices.Sorted(maps.Keys(h))
	h.Set("Access-Control-Allow-Origin", a.origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", strings.Join(names, ", "))
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	return h
}
