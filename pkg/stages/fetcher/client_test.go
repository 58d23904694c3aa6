package fetcher

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// browser is a Client that makes its answers itself, as one that renders pages does.
type browser struct {
	answer Answer
	body   io.Reader
	err    error

	asked  []Request
	closed int // exchanges
}

// browserExchange is an exchange of a browser.
type browserExchange struct {
	*browser
	io.Reader
}

var beganRendering = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (b *browser) Do(_ context.Context, r Request) (Exchange, error) {
	b.asked = append(b.asked, r)
	return browserExchange{b, b.body}, b.err
}

func (*browser) Close() {}

func (x browserExchange) Answer() Answer {
	if x.err != nil {
		return Answer{}
	}
	return x.answer
}

func (x browserExchange) Sent() http.Header { return http.Header{"User-Agent": {"a browser"}} }

func (x browserExchange) Close() Contact {
	x.closed++
	return Contact{Started: beganRendering, Ended: beganRendering.Add(2 * time.Second), FirstByte: time.Second,
		Addr: loopback}
}

// page is the answer of a browser that rendered a page.
func page(code int) Answer {
	return Answer{Code: code, Status: http.StatusText(code), Proto: "HTTP/2.0", Length: -1,
		At:     beganRendering.Add(time.Second),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Retry-After": {"7"}}}
}

// brokenBody is a body that cannot be read to its end.
func brokenBody(err error) io.Reader {
	return io.MultiReader(strings.NewReader("<p>half"), readFunc(func([]byte) (int, error) { return 0, err }))
}

// Whoever makes the requests, the handler does all that follows from the answer.
func TestAnotherClient(t *testing.T) {
	hang := Fault{crawl.VerdictRefused, "hang", "the page's script does not end"}
	for name, tc := range map[string]struct {
		client  browser
		verdict crawl.Verdict
		reason  string
		bodies  int
	}{
		"a page": {browser{answer: page(200), body: strings.NewReader("<p>rendered")}, crawl.VerdictDone,
			"", 1},
		"a page that is too long": {browser{answer: page(200), body: strings.NewReader(strings.Repeat("x", 9000))},
			crawl.VerdictDone, "", 1},
		"nothing": {browser{answer: page(404), body: strings.NewReader("")}, crawl.VerdictGone,
			crawl.ReasonStatus, 0},
		"a server that wants rest": {browser{answer: page(503), body: strings.NewReader("")}, crawl.VerdictRetry,
			crawl.ReasonStatus, 0},
		"a fault that it tells":    {browser{err: hang}, crawl.VerdictRefused, "hang", 0},
		"a fault of the network":   {browser{err: io.ErrUnexpectedEOF}, crawl.VerdictRetry, crawl.ReasonBroken, 0},
		"a fault while it is read": {browser{answer: page(200), body: brokenBody(hang)}, crawl.VerdictRefused, "hang", 0},
		"a body that is not whole": {browser{answer: page(200), body: brokenBody(io.ErrUnexpectedEOF)}, crawl.VerdictRetry,
			crawl.ReasonBroken, 0},
		"an error that has no name": {browser{err: errors.New("boom")}, crawl.VerdictRetry, crawl.ReasonBroken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
				d.Client = &tc.client
				d.Archive = d.Bodies.(*memory)
				j.Limits.MaxBody = 8192
			})
			r := b.get("http://a.test/app", func(f *crawl.Fetch) { f.Addr, f.FirstWait = loopback, time.Second })
			r.want(t, tc.verdict, tc.reason)
			if b.mem.Len() != tc.bodies || (r.page != nil) != (tc.bodies == 1) {
				t.Errorf("%d bodies in the spool, page %+v", b.mem.Len(), r.page)
			}
			if len(tc.client.asked) != 1 || tc.client.closed != 1 {
				t.Errorf("%d requests, %d exchanges closed, want one", len(tc.client.asked), tc.client.closed)
			}
			if got := tc.client.asked[0]; got.Addr != loopback || got.FirstWait != time.Second || !got.Private ||
				got.Task.URL.String() != "http://a.test/app" {
				t.Errorf("asked for %+v", got)
			}
			if !r.Started.Equal(beganRendering) || r.Ended.Sub(r.Started) != 2*time.Second || r.Addr != loopback {
				t.Errorf("started %v, ended %v at %v", r.Started, r.Ended, r.Addr)
			}
			if r.Verdict == crawl.VerdictRetry && r.Status == 503 && r.RetryAfter != 7*time.Second {
				t.Errorf("Retry-After %v", r.RetryAfter)
			}
			if r.page != nil && (len(b.mem.exchanges) != 1 || b.mem.exchanges[0].Proto != "HTTP/2.0" ||
				(r.page.Truncated != "") != (len(r.body) == 8192)) {
				t.Errorf("page %+v of %d bytes, archived %+v", r.page, len(r.body), b.mem.exchanges)
			}
		})
	}
}
