package renderer_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/renderer"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// stores are what the stage needs, in memory.
type stores struct {
	crawl.Memory
	crawl.Resources
	resources map[string]crawl.Resource
	template  crawl.RenderTemplate
	lines     []crawl.LogLine
	err       error
}

func (s *stores) Resource(_ context.Context, _ crawl.JobID, u weburl.URL, _ time.Time) (crawl.Resource, bool, error) {
	r, ok := s.resources[u.String()]
	return r, ok, s.err
}

func (s *stores) Append(_ context.Context, lines ...crawl.LogLine) error {
	s.lines = append(s.lines, lines...)
	return nil
}

type stats struct {
	crawl.RenderStats
	s *stores
}

func (t stats) ChangeTemplate(_ context.Context, _ crawl.JobID, _ string, _ uint64,
	change func(*crawl.RenderTemplate) bool) (crawl.RenderTemplate, error) {
	change(&t.s.template)
	return t.s.template, nil
}

// fake is a browser that asks for some URLs, and says what came of them.
type fake struct {
	asks    []string
	result  render.Result
	err     error
	renders int
	request render.Request // the last
}

func (f *fake) Render(ctx context.Context, req render.Request,
	serve func(context.Context, render.Sub) render.Answer) (render.Result, error) {
	f.renders++
	f.request = req
	if f.err != nil {
		return render.Result{}, f.err
	}
	res := f.result
	if res.Verdict == "" {
		res.Verdict = render.Done
		var b strings.Builder
		for _, u := range f.asks {
			a := serve(ctx, render.Sub{URL: u, Method: "GET"})
			fmt.Fprintf(&b, "<p>%s %d %s%s", u, a.Status, a.Body, a.Fail)
		}
		res.HTML = []byte(string(req.Body) + b.String())
	}
	return res, nil
}

func (*fake) Close() error { return nil }

type resting struct{ error }

func (resting) Rest() time.Duration { return 7 * time.Second }

func mustURL(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// event is a page to be rendered.
func event(t *testing.T, html string) *crawl.Render {
	t.Helper()
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 1)
	_, _ = w.Write([]byte(html))
	_ = w.Close()
	task := crawl.Task{Job: "j", URL: mustURL(t, "http://a.test/page"), Tracked: true}
	return &crawl.Render{Page: crawl.Page{Task: task, Status: 200, ContentType: "text/html"}, HTML: b.Bytes(),
		Why: crawl.WhyAlways, Template: 7}
}

const page = `<div id=root></div><script src=/a.js></script><script src="data:,x"></script><base href="/sub/"><script src=b.js></script>`

// stage is a handler over stores.
func stage(s *stores, b render.Browser, goes func(crawl.JobID) (bool, bool)) *renderer.Handler {
	job := crawl.DefaultJob()
	job.ID, job.Render.Mode = "j", crawl.RenderAuto
	return renderer.New(renderer.Deps{Jobs: crawl.StaticJobs{"j": &job}, Bodies: s, Resources: s, Renders: stats{s: s},
		Attempts: s, Browser: b, Goes: goes, Log: slog.New(slog.DiscardHandler)})
}

func wants(out []crawl.Event) (urls []string) {
	for _, e := range out {
		if l, ok := e.(*crawl.Links); ok {
			for i := range l.Links {
				urls = append(urls, l.Links[i].URL.String())
			}
		}
	}
	return urls
}

// What holds requests open is asked for twice, and then for a while not any more.
func TestLongPollsAreGivenUp(t *testing.T) {
	held := crawl.Resource{Status: 200, Body: []byte("2"), Took: 25 * time.Second}
	slow := crawl.Resource{Status: 200, Body: bytes.Repeat([]byte("news "), 200), Took: 25 * time.Second}
	for name, tc := range map[string]struct {
		first, second crawl.Resource
		want          []string
		missing       int
	}{
		"long polls": {held, held, nil, 1},
		"timeouts": {crawl.Resource{Refused: crawl.ReasonTimeout}, crawl.Resource{Refused: crawl.ReasonTooSlow},
			nil, 4},
		"one of both":         {held, crawl.Resource{Status: 200, Body: []byte("2")}, []string{"http://a.test/poll?3"}, 0},
		"slow, with content":  {slow, slow, []string{"http://a.test/poll?3"}, 0},
		"quick, without":      {crawl.Resource{Status: 204}, crawl.Resource{Status: 204}, []string{"http://a.test/poll?3"}, 0},
		"forbidden, for ever": {crawl.Resource{Refused: crawl.ReasonRobots}, held, []string{"http://a.test/poll?3"}, 0},
	} {
		const at = "http://a.test/poll?"
		s := &stores{resources: map[string]crawl.Resource{at + "1": tc.first, at + "2": tc.second}}
		b := &fake{asks: []string{at + "1", at + "1", at + "2", at + "3"}}
		out, err := stage(s, b, nil).Handle(t.Context(), event(t, "<p>"))
		if got := wants(out); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: asks for %q, %v", name, got, err)
		}
		if p, done := out[0].(*crawl.Page); done && p.Rendered.Missing != tc.missing {
			t.Errorf("%s: %d are missing", name, p.Rendered.Missing)
		}
	}
}

// A page asks for its scripts first, then for what these ask for, and is rendered when all is there.
func TestRounds(t *testing.T) {
	s := &stores{resources: map[string]crawl.Resource{}}
	b := &fake{asks: []string{"http://a.test/a.js", "http://a.test/api", "http://a.test/forbidden"}}
	h := stage(s, b, nil)
	out, err := h.Handle(t.Context(), event(t, page))
	if got := wants(out); err != nil || !slices.Equal(got, []string{"http://a.test/a.js", "http://a.test/sub/b.js"}) ||
		b.renders != 0 {
		t.Fatalf("first: %q, %v, %d renders", got, err, b.renders)
	}
	next := out[1].(*crawl.Render)
	if l := out[0].(*crawl.Links); l.Task.Tracked || l.Links[0].Tag != crawl.TagResource || !next.Page.Task.Tracked ||
		next.Round != 1 {
		t.Errorf("the page's links are said to be complete: %+v, %+v", l, next)
	}
	var later *bus.RetryError
	if _, err = h.Handle(t.Context(), next); !errors.As(err, &later) || !later.Expected {
		t.Fatalf("a page whose scripts have not come: %v", err)
	}
	s.resources["http://a.test/a.js"] = crawl.Resource{Status: 200, Body: []byte("js")}
	s.resources["http://a.test/sub/b.js"] = crawl.Resource{Status: 404}
	out, err = h.Handle(t.Context(), next)
	if got := wants(out); err != nil || !slices.Equal(got, []string{"http://a.test/api", "http://a.test/forbidden"}) {
		t.Fatalf("second: %q, %v", got, err)
	}
	last := out[1].(*crawl.Render)
	s.resources["http://a.test/api"] = crawl.Resource{Status: 200, Body: []byte("[1]")}
	s.resources["http://a.test/forbidden"] = crawl.Resource{Refused: crawl.ReasonRobots}
	out, err = h.Handle(t.Context(), last)
	if err != nil || len(out) != 1 {
		t.Fatalf("third: %v, %v", out, err)
	}
	p := out[0].(*crawl.Page)
	body, err := s.Open(t.Context(), p.Body)
	if err != nil {
		t.Fatal(err)
	}
	html, _ := io.ReadAll(body)
	for _, want := range []string{"/api 200 [1]", "/forbidden 0 AccessDenied", "/a.js 200 js"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("%q is missing in %s", want, html)
		}
	}
	if p.Rendered == nil || p.Rendered.Missing != 1 || p.Rendered.Template != 7 || !p.Task.Tracked ||
		p.Bytes != int64(len(html)) {
		t.Errorf("page %+v, rendered %+v", p, p.Rendered)
	}
}

func TestAPageThatIsNotRendered(t *testing.T) {
	goes := func(fetches, stopped bool) func(crawl.JobID) (bool, bool) {
		return func(crawl.JobID) (bool, bool) { return fetches, stopped }
	}
	for name, c := range map[string]struct {
		browser  render.Browser
		template crawl.RenderTemplate
		why      string
		goes     func(crawl.JobID) (bool, bool)
		after    time.Duration // it comes back after that at least; 0: it does not
		line     string        // reason of a line in crawl.log
	}{
		"no browser":             {browser: nil},
		"a browser that is none": {browser: &fake{err: fmt.Errorf("%w: gone", render.ErrUnavailable)}},
		"a browser that rests":   {browser: &fake{err: resting{errors.New("crashed")}}, after: 7 * time.Second},
		"its template was given up": {browser: &fake{}, why: crawl.WhyCandidate,
			template: crawl.RenderTemplate{State: decide.Stop, Since: time.Now()}},
		"people said never": {browser: &fake{}, template: crawl.RenderTemplate{Switch: "never"}},
		"others are being tried": {browser: &fake{}, why: crawl.WhyCandidate, after: time.Millisecond,
			template: crawl.RenderTemplate{Asked: []crawl.RenderAsked{{By: 1, At: time.Now()}, {By: 2, At: time.Now()},
				{By: 3, At: time.Now()}}}},
		"its job was stopped": {browser: &fake{}, goes: goes(false, true)},
		"it hangs": {browser: &fake{result: render.Result{Verdict: render.Hang, Detail: "8 s"}},
			line: "render-hang"},
		"it crashes": {browser: &fake{result: render.Result{Verdict: render.Crash}}, line: "render-crash"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stores{template: c.template}
			e := event(t, "<script>1</script>")
			if c.why != "" {
				e.Why = c.why
			}
			out, err := stage(s, c.browser, c.goes).Handle(t.Context(), e)
			var later *bus.RetryError
			switch {
			case len(out) > 0:
				t.Errorf("it goes on: %v", out)
			case c.after > 0 && (!errors.As(err, &later) || later.After < c.after || !later.Expected):
				t.Errorf("error %v, want to come back after %v", err, c.after)
			case c.after == 0 && err != nil:
				t.Errorf("error %v", err)
			}
			if (len(s.lines) > 0) != (c.line != "") || c.line != "" && (s.lines[0].Reason != c.line || s.template.Failed != 1) {
				t.Errorf("lines %+v, template %+v", s.lines, s.template)
			}
		})
	}
}

// What does not come is not waited for for ever, nor where the job fetches nothing more.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		until time.Time
		goes  func(crawl.JobID) (bool, bool)
		want  bool
	}{
		"still":            {time.Now().Add(time.Hour), nil, false},
		"over":             {time.Now().Add(-time.Second), nil, true},
		"nothing may come": {time.Now().Add(time.Hour), func(crawl.JobID) (bool, bool) { return false, false }, true},
	} {
		b := &fake{asks: []string{"http://a.test/never.js"}}
		e := event(t, page)
		e.Round, e.Until, e.Wants = 1, c.until, []string{"http://a.test/never.js"}
		out, err := stage(&stores{}, b, c.goes).Handle(t.Context(), e)
		if rendered := b.renders == 1 && len(out) == 1 && err == nil; rendered != c.want {
			t.Errorf("%s: rendered %v, want %v: %v, %v", name, rendered, c.want, out, err)
		}
	}
}

// Where a job fetches nothing more, its pages are rendered with what is there, at once, and ask for nothing.
func TestAPageOfAJobWhoseTimeIsOver(t *testing.T) {
	b := &fake{asks: []string{"http://a.test/never.js"}}
	out, err := stage(&stores{}, b, func(crawl.JobID) (bool, bool) { return false, false }).Handle(t.Context(),
		event(t, page))
	if err != nil || len(out) != 1 || b.renders != 1 {
		t.Fatalf("%v, %v, %d renders", out, err, b.renders)
	}
	if p, ok := out[0].(*crawl.Page); !ok || p.Rendered.Missing != 1 {
		t.Errorf("it goes on as %+v", out[0])
	}
}

// A page that asks for ever more, each time for something else, is rendered with what there is in the end.
func TestAPageThatAsksForEverMore(t *testing.T) {
	s, e := &stores{resources: map[string]crawl.Resource{}}, event(t, "<script>1</script>")
	for round := range 100 {
		b := &fake{asks: []string{fmt.Sprintf("http://a.test/%d", round)}}
		out, err := stage(s, b, nil).Handle(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 1 {
			t.Logf("rendered after %d rounds", round)
			return
		}
		for _, u := range wants(out) {
			s.resources[u] = crawl.Resource{Status: 200}
		}
		e = out[1].(*crawl.Render)
	}
	t.Error("it is never rendered")
}

// A store that fails brings the page back; nothing is lost, and nothing is rendered without what it needs.
func TestAStoreThatFails(t *testing.T) {
	s := &stores{err: errors.New("away")}
	if out, err := stage(s, &fake{}, nil).Handle(t.Context(), event(t, page)); err == nil || len(out) > 0 ||
		crawl.IsPermanent(err) {
		t.Errorf("%v, %v", out, err)
	}
}

// A page that removes all of itself has gained nothing, and has not failed.
func TestAPageThatRemovesItself(t *testing.T) {
	s := &stores{}
	b := &fake{result: render.Result{Verdict: render.Done, Links: []string{"http://a.test/x"},
		Unfollowed: []string{"http://a.test/y"}}}
	out, err := stage(s, b, nil).Handle(t.Context(), event(t, "<p>text<script>1</script>"))
	if err != nil || len(out) != 1 || len(s.lines) > 0 || s.template.Failed > 0 {
		t.Fatalf("%v, %v, lines %+v, template %+v", out, err, s.lines, s.template)
	}
	if p, ok := out[0].(*crawl.Page); !ok || len(p.Rendered.Links) != 1 || len(p.Rendered.Unfollowed) != 1 ||
		p.Body == "" {
		t.Errorf("it goes on as %+v", out[0])
	}
}

func TestDamagedHTMLIsHopeless(t *testing.T) {
	e := event(t, page)
	e.HTML = []byte{0xff, 1, 2}
	if _, err := stage(&stores{}, &fake{}, nil).Handle(t.Context(), e); !crawl.IsPermanent(err) {
		t.Errorf("error %v, want a permanent one", err)
	}
}

// The browser reads a page in the encoding in which the parser read it, which a message of an older program does not
// say.
func TestTheBrowserIsToldTheEncoding(t *testing.T) {
	for charset, want := range map[string]string{"": "text/html; charset=utf-8", "koi8-r": "text/html; charset=koi8-r"} {
		b, e := &fake{}, event(t, "<p>日本<script>1</script>")
		e.Charset = charset
		if _, err := stage(&stores{}, b, nil).Handle(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if got := b.request.Header.Get("Content-Type"); got != want {
			t.Errorf("parsed as %q, the browser is told %q, want %q", charset, got, want)
		}
	}
}
