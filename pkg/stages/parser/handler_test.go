package parser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// spool is a body spool with one body.
type spool struct {
	body string
	err  error // of opening it
	read error // of reading it to its end
}

func (s spool) Put(context.Context, io.Reader) (crawl.BodyRef, error) {
	return "", errors.ErrUnsupported
}
func (s spool) Release(context.Context, crawl.BodyRef) error { return errors.ErrUnsupported }
func (s spool) Open(context.Context, crawl.BodyRef) (io.ReadCloser, error) {
	var r io.Reader = strings.NewReader(s.body)
	if s.read != nil {
		r = io.MultiReader(r, iotest.ErrReader(s.read))
	}
	return io.NopCloser(r), s.err
}

func testJob() *crawl.Job {
	job := crawl.DefaultJob()
	job.ID = "job"
	return &job
}

func testPage(t testing.TB, contentType string) *crawl.Page {
	return &crawl.Page{Task: crawl.Task{Job: "job", URL: mustURL(t, pageURL)}, ContentType: contentType}
}

func handle(t *testing.T, job *crawl.Job, s spool, p *crawl.Page) *crawl.Document {
	t.Helper()
	h := NewHandler(crawl.StaticJobs{"job": job}, s, slog.New(slog.DiscardHandler))
	out, err := h.Handle(t.Context(), p)
	if err != nil || len(out) != 1 {
		t.Fatalf("%d events, error %v", len(out), err)
	}
	return out[0].(*crawl.Document)
}

func TestHandlerMakesADocument(t *testing.T) {
	p := testPage(t, "text/html; charset=utf-8")
	p.LinkHeaders = []string{`<https://example.com/h>; rel="next", </s.css>; rel=stylesheet`,
		`</c>; rel=canonical; title="a,b;c\"d"`}
	p.RobotsTags = []string{"unavailable_after: 25 Jun 2030 15:00:00 GMT", "otherbot: noindex", "whirlpool: nofollow"}
	d := handle(t, testJob(), spool{body: `<title>T</title><base href=/base/><a href=x>y</a>`}, p)
	want := "a https://example.com/base/x [] y|header https://example.com/h [next]|header https://example.com/c " +
		"[canonical]"
	if got := strings.Join(linkLines(&Result{Links: d.Links}), "|"); got != want {
		t.Errorf("links %s\nwant  %s", got, want)
	}
	if d.Title != "T" || d.Canonical != "https://example.com/c" || d.NoIndex || !d.NoFollow ||
		d.ContentType != "text/html" || d.Page.Task.URL != p.Task.URL {
		t.Errorf("%+v", d)
	}
}

func TestPageWithoutLinksIsADocumentToo(t *testing.T) {
	for _, contentType := range []string{"text/html", "text/plain", "application/octet-stream", ""} {
		if d := handle(t, testJob(), spool{}, testPage(t, contentType)); len(d.Links) != 0 || d.Text != "" {
			t.Errorf("%s: %+v", contentType, d)
		}
	}
}

func TestReleasedBodyWasHandledBefore(t *testing.T) {
	h := NewHandler(crawl.StaticJobs{"job": testJob()}, spool{err: crawl.ErrNoBody}, slog.New(slog.DiscardHandler))
	if out, err := h.Handle(t.Context(), testPage(t, "")); len(out) != 0 || !errors.Is(err, pipeline.ErrHandled) {
		t.Errorf("%d events, error %v; want none and %v", len(out), err, pipeline.ErrHandled)
	}
}

func TestALostBodyIsReportedToTheFrontier(t *testing.T) {
	for name, s := range map[string]spool{
		"not there": {err: crawl.Permanent(fmt.Errorf("body x: %w (the machine was restarted since)", crawl.ErrBodyLost))},
		"damaged": {body: "<p>half of i",
			read: crawl.Permanent(fmt.Errorf("body x: %w (5 bytes are missing)", crawl.ErrBodyLost))},
	} {
		h := NewHandler(crawl.StaticJobs{"job": testJob()}, s, slog.New(slog.DiscardHandler))
		p := testPage(t, "")
		p.Task.Attempt, p.Task.Lease = 1, 7
		out, err := h.Handle(t.Context(), p)
		if err != nil || len(out) != 1 {
			t.Fatalf("%s: %d events, error %v; want an outcome", name, len(out), err)
		}
		o, ok := out[0].(*crawl.Outcome)
		if !ok || o.Task != p.Task || o.Verdict != crawl.VerdictInterrupted || o.Reason != crawl.ReasonBodyLost ||
			o.Contacted() || !strings.Contains(o.Detail, "since") && !strings.Contains(o.Detail, "missing") {
			t.Errorf("%s: %+v", name, out[0])
		}
	}
}

func TestSpoolFailureIsTriedAgain(t *testing.T) {
	h := NewHandler(crawl.StaticJobs{"job": testJob()}, spool{err: io.ErrUnexpectedEOF}, slog.New(slog.DiscardHandler))
	_, err := h.Handle(t.Context(), testPage(t, ""))
	if !errors.Is(err, io.ErrUnexpectedEOF) || crawl.IsPermanent(err) || !strings.Contains(err.Error(), pageURL) {
		t.Errorf("error %v; want one that names the page and is not permanent", err)
	}
}

func TestWrongRulesArePermanent(t *testing.T) {
	job := testJob()
	job.Rules = []crawl.SiteRule{{Match: "("}}
	h := NewHandler(crawl.StaticJobs{"job": job}, spool{}, slog.New(slog.DiscardHandler))
	if _, err := h.Handle(t.Context(), testPage(t, "")); !crawl.IsPermanent(err) {
		t.Errorf("error %v; want a permanent one", err)
	}
}

func TestBodyIsReadUpToTheLimit(t *testing.T) {
	job := testJob()
	job.Limits.MaxBody = 20
	if d := handle(t, job, spool{body: "<a href=1>x</a>12345<a href=2>y</a>"}, testPage(t, "")); len(d.Links) != 1 {
		t.Errorf("%d links, want 1", len(d.Links))
	}
}

func TestSitemapsAreLinks(t *testing.T) {
	const set = `<urlset><url><loc>/a</loc></url><url><loc>http://b.example/</loc></url></urlset>`
	for _, c := range []struct{ name, body, want string }{
		{"set", set, "sitemap https://example.com/a []|sitemap http://b.example/ []"},
		{"index", `<sitemapindex><sitemap><loc>https://example.com/s.xml</loc></sitemap></sitemapindex>`,
			"sitemap-index https://example.com/s.xml []"},
		{"rss", `<rss version="2.0"><channel><item><link>/i</link></item></channel></rss>`, "feed https://example.com/i []"},
		{"text", "https://example.com/t\n", "sitemap https://example.com/t []"},
	} {
		p := testPage(t, "text/plain")
		p.Task.Kind = crawl.KindSitemap
		d := handle(t, testJob(), spool{body: c.body}, p)
		if got := strings.Join(linkLines(&Result{Links: d.Links}), "|"); got != c.want || d.Text != "" {
			t.Errorf("%s: links %s, text %q", c.name, got, d.Text)
		}
	}
	if d := handle(t, testJob(), spool{body: set}, testPage(t, "text/xml")); len(d.Links) != 2 {
		t.Errorf("a page of XML has %d links, want 2", len(d.Links))
	}
	const prefixed = `<s:urlset xmlns:s="u"><s:url><s:loc>/a</s:loc></s:url></s:urlset>`
	for body, want := range map[string]int{set: 2, prefixed: 1, "<s:svg>" + set + "</s:svg>": 0} {
		if d := handle(t, testJob(), spool{body: body}, testPage(t, "text/html")); len(d.Links) != want {
			t.Errorf("%s as HTML: %d links, want %d", body, len(d.Links), want)
		}
	}
}

func TestPlainTextIsText(t *testing.T) {
	d := handle(t, testJob(), spool{body: "one\r\n <a href=x>\n"}, testPage(t, "text/plain; charset=utf-8"))
	if d.Text != "one\n <a href=x>" || len(d.Links) != 0 || d.Title != "" || d.ContentType != "text/plain" {
		t.Errorf("%+v", d)
	}
}

// A handler is used by many goroutines at once: the same page must give the same document to each.
func TestHandlerIsSafeForConcurrentUse(t *testing.T) {
	job := testJob()
	job.Rules = []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "n", XPath: "count(//a)"},
		{Name: "l", CSS: "a", List: true}}}}
	h := NewHandler(crawl.StaticJobs{"job": job}, spool{body: string(page())}, slog.New(slog.DiscardHandler))
	want, err := h.Handle(t.Context(), testPage(t, "text/html"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if got, err := h.Handle(context.Background(), testPage(t, "text/html")); err != nil ||
					!reflect.DeepEqual(got, want) {
					t.Errorf("another document, or error %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestLinkHeaders(t *testing.T) {
	for header, want := range map[string]string{
		`<a>;rel=x,<b>; rel="y z" ; rel=q`: "a [x]|b [y z]", `<a>`: "a []", `a; rel=x, <b>`: "b []", `<a`: "", ``: "",
		`,, <a> , `: "a []", `<a>; title="x, <b>; rel=y"; rel=z`: "a [z]", `<a,b>; REL=x`: "a,b [x]", `<a>; rel="x`: "a [x]",
		`<a>; rel`: "a []", `<a>;;`: "a []", `<javascript:x>`: "",
	} {
		r := new(Result)
		r.linkHeaders([]string{header}, mustURL(t, "http://h/"), 0)
		var got []string
		for _, l := range r.Links {
			got = append(got, strings.TrimPrefix(l.URL.Path(), "/")+" ["+l.Rel+"]")
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s, want %s", header, s, want)
		}
	}
}

func FuzzLinkHeaders(f *testing.F) {
	f.Add(`<a>; rel="x\"", <b>;title=";"`)
	f.Fuzz(func(t *testing.T, header string) {
		for rest := header; rest != ""; {
			var l linkValue
			before := len(rest)
			l, rest = nextLinkValue(rest)
			if len(rest) >= before || len(l.ref)+len(l.rel) > before {
				t.Fatalf("%q: %d bytes left of %d", header, len(rest), before)
			}
		}
	})
}

func BenchmarkHandle(b *testing.B) {
	doc := page()
	h := NewHandler(crawl.StaticJobs{"job": testJob()}, spool{body: string(doc)}, slog.New(slog.DiscardHandler))
	p := testPage(b, "text/html; charset=utf-8")
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Handle(context.Background(), p); err != nil {
			b.Fatal(err)
		}
	}
}

// Large pages are parsed one at a time, and a shutdown does not wait for their turn.
func TestLargePagesWaitForOneAnother(t *testing.T) {
	h := NewHandler(crawl.StaticJobs{"job": testJob()}, spool{body: "<a href=x>y</a>"}, slog.New(slog.DiscardHandler))
	large, small := testPage(t, "text/html"), testPage(t, "text/html")
	large.Bytes = largePage + 1
	h.large <- struct{}{} // another one is being parsed
	if out, err := h.Handle(t.Context(), small); err != nil || len(out) != 1 {
		t.Errorf("a small page waited: %d events, %v", len(out), err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := h.Handle(ctx, large); !errors.Is(err, stopped) {
		t.Errorf("error %v, want %v", err, stopped)
	}
	<-h.large
	for range 2 {
		if out, err := h.Handle(t.Context(), large); err != nil || len(out) != 1 {
			t.Errorf("%d events, %v", len(out), err)
		}
	}
}
