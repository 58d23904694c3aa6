package browser

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// asked is a request that waits for its answer, in the order of the requests.
type asked struct {
	session session
	id      fetch.RequestID
	network string
	sub     render.Sub
	origin  string // of who asks, where another origin is asked
	headers string // that a request to another origin is to have
	action  action
	main    bool // the main frame's document
	answer  chan render.Answer
}

// paused takes a request. The page's own document is answered at once; all others are in their order.
func (r *rendering) paused(e event) {
	var ev fetch.EventRequestPaused
	if decode(e.params, &ev) != nil {
		return
	}
	a := &asked{session: session{r.tab.page.wire, e.session}, id: ev.RequestID, network: string(ev.NetworkID),
		sub:    render.Sub{URL: ev.Request.URL, Method: ev.Request.Method, Type: typeOf(&ev)},
		answer: make(chan render.Answer, 1)}
	a.sub.Referrer, a.origin = header(ev.Request.Headers, "Referer"), header(ev.Request.Headers, "Origin")
	a.headers, a.sub.Header = header(ev.Request.Headers, "Access-Control-Request-Headers"), own(ev.Request.Headers)
	if ev.ResourceType == network.ResourceTypeDocument && string(ev.FrameID) == string(r.tab.target) {
		a.main = true
		if r.mainDocument(a) {
			return
		}
	}
	r.count(a)
	r.mu.Lock()
	r.asks = append(r.asks, a)
	r.mu.Unlock()
	signal(r.asking)
}

// typeOf names what a request is for. The interception takes some for others that their headers tell apart.
func typeOf(ev *fetch.EventRequestPaused) string {
	h := ev.Request.Headers
	switch {
	case ev.Request.Method == http.MethodOptions && header(h, "Access-Control-Request-Method") == http.MethodGet:
		return string(network.ResourceTypePreflight)
	case header(h, "Accept") == "text/event-stream":
		return string(network.ResourceTypeEventSource)
	case isPrefetch(h):
		return string(network.ResourceTypePrefetch)
	case ev.ResourceType == network.ResourceTypeOther && strings.HasPrefix(header(h, "Accept"), "image/"):
		return string(network.ResourceTypeImage) // a page's icon
	}
	return string(ev.ResourceType)
}

// isPrefetch reports whether a request is for a page that the visitor may go to next: that page is fetched as a page.
// Next.js asks so for each link in view, of each page under another address.
func isPrefetch(h network.Headers) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Sec-Purpose", "X-Purpose", "X-Moz"} {
		if strings.Contains(header(h, name), "prefetch") {
			return true
		}
	}
	return header(h, "Next-Router-Prefetch") != "" || header(h, "Next-Router-Segment-Prefetch") != ""
}

// mainDocument answers the document of the main frame: first the page itself, then where its scripts want to go. Only
// to the page itself, once, are they followed: another document is another page's content. It reports whether that is
// done.
func (r *rendering) mainDocument(a *asked) bool {
	r.mu.Lock()
	r.documents++
	first := r.documents == 1
	var follow bool
	switch {
	case first:
		r.own = a.sub.URL
	case a.sub.Method != http.MethodGet: // a form: where it goes is no address to read
		r.result.Requests++
		r.result.Refused++
	case a.sub.URL != r.own:
		r.leads(a.sub.URL)
	default:
		follow = !r.followed
		r.followed = r.followed || follow
	}
	r.mu.Unlock()
	switch {
	case first:
		a.fulfil(r.document())
		return true
	case !follow: // an error page would take the place of the document
		a.fail(aborted)
		return true
	}
	return false
}

// mostLeads is how many URLs a page leads to at most: a browser would have left it for the first.
const mostLeads = 8

// leads notes where a page wants to go, one URL a path: one that goes on, each time with another number behind the
// question mark, would lead the crawl into pages without end. The caller holds r.mu.
func (r *rendering) leads(to string) {
	at, _, _ := strings.Cut(to, "?")
	known := slices.ContainsFunc(r.result.Navigated, func(had string) bool {
		path, _, _ := strings.Cut(had, "?")
		return path == at
	})
	if !known && len(r.result.Navigated) < mostLeads {
		r.result.Navigated = append(r.result.Navigated, to)
	}
}

// document is the page as it was fetched, without what belonged to its transfer.
func (r *rendering) document() render.Answer {
	header := r.req.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for _, name := range []string{"Content-Disposition", "Strict-Transport-Security", "Refresh", "Clear-Site-Data",
		"Location"} {
		header.Del(name)
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "text/html")
	}
	status := r.req.Status
	if status < 200 || status == 204 || status == 205 || status/100 == 3 {
		status = 200
	}
	return render.Answer{Status: status, Header: header, Body: closedRoot.ReplaceAll(r.req.Body, []byte("${1}open"))}
}

// closedRoot is where the HTML of a page opens a shadow root that nobody can look into, not even from here.
var closedRoot = regexp.MustCompile(`(?i)(<template\s[^>]*?\bshadowrootmode\s*=\s*["']?)closed\b`)

// count decides a request, and asks for its answer where it is not decided.
func (r *rendering) count(a *asked) {
	a.action = policy(a.sub, r.req.Screenshot)
	if a.action.kind == leave {
		a.answer <- render.Answer{}
		return
	}
	r.mu.Lock()
	r.result.Requests++
	r.inFlight++
	if a.action.kind == refuse || a.action.kind == blank {
		r.result.Refused++
	}
	most := r.limits.Requests + r.views*r.limits.Requests/shareOfView
	over := r.result.Requests-r.result.Refused > most || r.result.Refused > 4*most
	r.mu.Unlock()
	switch {
	case over:
		r.limit("more than %d requests", most)
		a.answer <- render.Answer{Fail: blocked}
	case a.action.kind == askServe:
		r.serving.Go(func() { a.answer <- r.ask(a.sub) })
	default:
		a.answer <- render.Answer{Fail: a.action.fail}
	}
}

// ask gets an answer, and holds it against the limits.
func (r *rendering) ask(sub render.Sub) render.Answer {
	if r.ctx.Err() != nil {
		return render.Answer{Fail: aborted}
	}
	answer := r.serve(r.ctx, sub)
	r.mu.Lock()
	if answer.Fail != "" {
		r.result.Failed++
	}
	r.bytes += int64(len(answer.Body))
	over := r.bytes > r.limits.Bytes
	r.mu.Unlock()
	if answer.Stop {
		r.stop(ends(render.Stop, "%s was not to be had", sub.URL))
	}
	if over {
		r.limit("more than %d octets of answers", r.limits.Bytes)
		return render.Answer{Fail: blocked}
	}
	return answer
}

// limit ends the wait: the page is taken as it is.
func (r *rendering) limit(format string, args ...any) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result.Verdict != "" {
		return false
	}
	r.result.Verdict, r.result.Detail, r.result.Settled = render.Limit, fmt.Sprintf(format, args...), "limit"
	signal(r.expired)
	r.cut()
	return true
}

func header(h network.Headers, name string) string {
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// siteOf is the registrable domain of a URL, or its host where that has none.
func siteOf(raw string) string {
	u, err := weburl.Parse(raw)
	if err != nil {
		return ""
	}
	return u.RegistrableDomain()
}
