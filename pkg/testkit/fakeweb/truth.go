package fakeweb

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Page is what a correct crawler must find at one URL of an ordinary host. It is a line of the truth file.
type Page struct {
	URL string `json:"url"`
	// without port
	Host string `json:"host"`
	// in the end, after the page's refusals
	Status int `json:"status"`
	// robots.txt forbids it: it must not be fetched at all
	Disallowed bool   `json:"disallowed"`
	RedirectTo string `json:"redirect_to,omitempty"`
	// Content numbers what the page holds: the same number for the same bytes, 0 where there is no page. The number
	// of a changing page stands for all its versions.
	Content uint64 `json:"content,omitempty"`
	// URL of the original of an exact copy
	DuplicateOf string `json:"duplicate_of,omitempty"`
	// URL of the original of an edited copy
	NearDuplicateOf string `json:"near_duplicate_of,omitempty"`
	NoIndex         bool   `json:"noindex,omitempty"`
	NoFollow        bool   `json:"nofollow,omitempty"`
	// visits answered with RefusalStatus before Status
	Refusals      int `json:"refusals,omitempty"`
	RefusalStatus int `json:"refusal_status,omitempty"`
	// seconds, with each refusal
	RetryAfter int `json:"retry_after,omitempty"`
	// 0: never
	ChangeEvery time.Duration `json:"change_every,omitempty"`
	// hops from the first seed along index pages: no path need be longer
	Depth int `json:"depth"`
}

// Fetched says whether a crawler that obeys robots.txt ends up with the page's content or redirect.
func (p Page) Fetched() bool { return !p.Disallowed }

// Pages yields every page of the ordinary hosts, host by host. Unless it is Disallowed, a page is reachable from
// [Web.Seeds] by links that no directive tells a crawler to ignore.
func (w *Web) Pages(yield func(Page) bool) {
	for h := range w.cfg.Hosts {
		for p := range w.pages(h) {
			if !yield(w.truth(pageRef{h, p})) {
				return
			}
		}
	}
}

// Page is the truth about one URL; ok is false when no ordinary host has such a page.
func (w *Web) Page(rawURL string) (p Page, ok bool) {
	host, target, err := splitURL(rawURL)
	if err != nil {
		return Page{}, false
	}
	h, ok := w.parseHost(host)
	if !ok || h.kind != ordinary {
		return Page{}, false
	}
	r, ok := w.find(h.n, []byte(target))
	if !ok {
		return Page{}, false
	}
	return w.truth(r), true
}

func splitURL(rawURL string) (host, target string, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", "", fmt.Errorf("fakeweb: %w", err)
	}
	if u.Host == "" {
		return "", "", errors.New("fakeweb: no host in " + rawURL)
	}
	return u.Host, u.RequestURI(), nil
}

// url is the address of a page.
func (w *Web) url(r pageRef) string {
	return string(w.appendPath(w.appendOrigin(nil, hostRef{ordinary, r.host}), r))
}

func (w *Web) truth(r pageRef) Page {
	d := w.detail(r)
	t := Page{
		URL: w.url(r), Host: w.HostName(r.host), Status: 200, Content: w.content(r),
		Disallowed: w.blocked(r.host) || w.cfg.Robots && d.private && !d.open && w.robots(r.host) != robotsNone,
		NoIndex:    d.noindex, NoFollow: d.nofollow, Depth: level(r.host) + level(r.p),
	}
	switch k := w.class(r); k {
	case redirecting:
		t.Status, t.Content, t.RedirectTo = w.redirectStatus(r), 0, w.url(w.target(r))
	case missing:
		t.Status, t.Content = w.missingStatus(r), 0
	case unavailable:
		t.Refusals, t.RefusalStatus, t.RetryAfter = w.refusal(r)
	case changing:
		t.ChangeEvery = w.period(r)
	case exactCopy:
		c, _ := w.copied(r)
		t.DuplicateOf, t.Content = w.url(c), w.content(c)
	case nearCopy:
		c, _ := w.copied(r)
		t.NearDuplicateOf = w.url(c)
	}
	return t
}

// Response is an answer of the web, for tests and benchmarks that need pages and no network.
type Response struct {
	Status     int
	RetryAfter int    // seconds; 0 for none
	Header     string // the lines of the header but for lengths, dates and validators
	Body       []byte
}

// Get answers for a URL as the server would after so many earlier visits, so long after the web began. The body is
// appended to dst, which may be nil. Hosts that are slow answer at once here.
func (w *Web) Get(dst []byte, rawURL string, at time.Duration, visits int) (Response, error) {
	host, target, err := splitURL(rawURL)
	if err != nil {
		return Response{}, err
	}
	a := answer{body: dst}
	w.answerTo(&a, host, []byte(target), at, func(int) int { return visits })
	return Response{Status: a.status, RetryAfter: a.retryAfter, Header: string(a.headers), Body: a.body}, nil
}
