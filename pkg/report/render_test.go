package report

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
)

// fakeTemplates are the templates of a job.
type fakeTemplates []crawl.RenderTemplate

func (f fakeTemplates) Templates(context.Context, crawl.JobID) ([]crawl.RenderTemplate, error) {
	return f, nil
}

var someTemplates = fakeTemplates{
	{Host: "a.test", Template: 1<<63 + 1, Shape: "/react/*", State: decide.Keep, Since: fakeNow, Renders: 12, Gained: 12,
		Links: 148, CPU: 7400, Wall: 9000},
	{Host: "a.test", Template: 7, Shape: "/plain/*", State: decide.Stop, Since: fakeNow, Renders: 10, CPU: 3000},
	{Host: "b.test", Template: 9, Shape: "/*", Switch: "never", Renders: 1, Failed: 1},
}

func TestRenderingSumsUpItsTemplates(t *testing.T) {
	r := RenderingOf(someTemplates, crawl.Tally{Pages: 44, Claimed: 296}, 2)
	if len(r.Templates) != 2 || r.More != 1 || r.Renders != 23 || r.Rendered != 22 || r.Gained != 12 || r.Failed != 1 ||
		r.Links != 148 || r.CPU != 10400 {
		t.Errorf("%+v", r)
	}
	first := &r.Templates[0]
	if first.ID != "8000000000000001" || first.PerLink != 0.05 ||
		!strings.Contains(first.Words, "12 of 12 renders gained") {
		t.Errorf("the first is %+v", first)
	}
	var b strings.Builder
	r.writeText(&b)
	for _, want := range []string{"RENDER", "a.test", "/react/*", "keep", "100 %", "0.05", "7.4 s", "stop", "and 1 more",
		"22 pages, 50 % of the pages", "148 links, 50 % of the URLs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// A status has at most twenty templates, and none where nothing was rendered.
func TestStatusTellsOfRendersWhereThereWereSome(t *testing.T) {
	many := fakeTemplates{}
	for i := range 23 {
		many = append(many, crawl.RenderTemplate{Host: fmt.Sprint("h", i), Template: uint64(i + 1), Renders: int64(i),
			Switch: "always"})
	}
	for _, tt := range []struct {
		src       Templates
		rows, all int
	}{{nil, 0, 0}, {fakeTemplates{}, 0, 0}, {fakeTemplates{{Host: "a.test", Template: 1, Sent: 2}}, 0, 0},
		{someTemplates, 3, 3}, {many, 20, 23}} {
		c := soundCluster(t).open(t)
		c.src.Templates = tt.src
		j, err := c.Job(t.Context(), fakeJob)
		if err != nil {
			t.Fatal(err)
		}
		s, err := j.Status(t.Context())
		if err != nil || (s.Render != nil) != (tt.rows > 0) {
			t.Fatalf("%v of %d: %+v", err, tt.all, s.Render)
		}
		var b strings.Builder
		if err := s.WriteText(&b); err != nil || strings.Contains(b.String(), "RENDER") != (tt.rows > 0) {
			t.Errorf("%v\n%s", err, b.String())
		}
		if s.Render != nil && (len(s.Render.Templates) != tt.rows || len(s.Render.Templates)+s.Render.More != tt.all) {
			t.Errorf("%d rows and %d more, want %d of %d", len(s.Render.Templates), s.Render.More, tt.rows, tt.all)
		}
	}
}

// The render of a page is told apart from what became of its URL.
func TestExplainTellsTheRenderOfAPage(t *testing.T) {
	job := crawl.DefaultJob()
	job.Render.Mode = crawl.RenderAuto
	part := &crawl.RenderedPart{At: fakeNow, Wall: 600 * time.Millisecond, Links: 148, Settled: "idle"}
	page := crawl.LogLine{At: fakeNow, Verdict: crawl.VerdictDone, Status: 200, Attempt: 1}
	done := crawl.LogLine{At: fakeNow, Kind: crawl.KindRender, Verdict: crawl.VerdictDone, Detail: "links +148",
		Attempt: 1}
	hang := crawl.LogLine{At: fakeNow.Add(time.Minute), Kind: crawl.KindRender, Verdict: crawl.VerdictFailed,
		Reason: "render-hang", Detail: "8 s", Attempt: 1}
	for _, tt := range []struct {
		name, url string
		lines     []crawl.LogLine
		part      *crawl.RenderedPart
		want      []string // none: nothing is told
	}{
		{"gained", "http://a.test/react/5", []crawl.LogLine{page, done}, part,
			[]string{"rendered: 148 links more in 0.6 s; template /react/* pays since", "12 of 12 renders gained"}},
		{"without a record", "http://a.test/other/5", []crawl.LogLine{page, done}, nil, []string{"rendered: links +148"}},
		{"given up", "http://a.test/plain/5", []crawl.LogLine{page}, nil,
			[]string{"not rendered: template /plain/* does not pay since", "0 of 10 renders gained"}},
		{"failed", "http://a.test/react/5", []crawl.LogLine{page, hang}, nil,
			[]string{"rendering failed [render-hang]: 8 s; template /react/*"}},
		{"failed after one that was done", "http://a.test/react/5", []crawl.LogLine{page, done, hang}, part,
			[]string{"failed [render-hang]"}},
		{"no template", "http://a.test/x/y/z", []crawl.LogLine{page}, nil, []string{"not rendered: nothing on the page"}},
	} {
		e := &Explanation{URL: mustURL(t, tt.url), Ledger: LedgerEntry{Verdict: "done", Status: 200},
			record: &crawl.Record{Rendered: tt.part}}
		e.sorted(tt.lines)
		s := &story{job: &job, templates: someTemplates}
		if err := s.explainRendered(t.Context(), e); err != nil || e.Rendered == nil {
			t.Fatalf("%s: %v, %+v", tt.name, err, e.Rendered)
		}
		for _, want := range tt.want {
			if !strings.Contains(e.Rendered.Words, want) {
				t.Errorf("%s: %q has no %q", tt.name, e.Rendered.Words, want)
			}
		}
		if len(e.lines) != 1 || e.lines[0].Status != 200 {
			t.Errorf("%s: the lines of the URL are %+v", tt.name, e.lines)
		}
	}
}

// A page whose render waits for what its scripts ask for is not called one that is not rendered.
func TestExplainOfAPageThatWaitsForItsRender(t *testing.T) {
	job := crawl.DefaultJob()
	job.Render.Mode = crawl.RenderAuto
	u := mustURL(t, "http://a.test/react/5")
	for name, url := range map[string]string{"is to be rendered, since ": "http://a.test/react/5",
		"not rendered: template ": "http://a.test/react/6"} {
		waits := fakeTemplates{{Host: "a.test", Shape: "/react/*", State: "sampling",
			Asked: []crawl.RenderAsked{{By: crawl.RenderKey(&crawl.Task{Job: job.ID, URL: u}), At: fakeNow}}}}
		e := &Explanation{URL: mustURL(t, url), Ledger: LedgerEntry{Verdict: "done", Status: 200}}
		if err := (&story{job: &job, templates: waits}).explainRendered(t.Context(), e); err != nil ||
			!strings.HasPrefix(e.Rendered.Words, name) {
			t.Errorf("%v, %+v, want %q", err, e.Rendered, name)
		}
	}
}

// Where nothing is to be rendered nothing is told, nor of a URL that is no page.
func TestExplainIsSilentWhereNothingIsRendered(t *testing.T) {
	job := crawl.DefaultJob()
	for _, l := range []LedgerEntry{{Verdict: "done", Status: 200}, {Verdict: "gone", Status: 404}, {}} {
		e := &Explanation{URL: mustURL(t, "http://a.test/x/y/z"), Ledger: l}
		if err := (&story{job: &job, templates: someTemplates}).explainRendered(t.Context(), e); err != nil ||
			e.Rendered != nil {
			t.Errorf("%+v: %v, %+v", l, err, e.Rendered)
		}
	}
}

// A URL that only scripts asked for is no page of the crawl.
func TestExplainOfAResource(t *testing.T) {
	e := &Explanation{URL: mustURL(t, "http://a.test/app.js"), Ledger: LedgerEntry{State: crawl.StateUnknown.String()},
		Rules: RulesVerdict{Allowed: true}}
	for want, line := range map[string]crawl.LogLine{
		": done, 200 OK.": {Verdict: crawl.VerdictDone, Status: 200},
		": retry, 503 Service Unavailable; there will be another.": {Verdict: crawl.VerdictRetry, Status: 503},
	} {
		line.Kind, line.Attempt, line.At = crawl.KindResource, 1, fakeNow
		e.sorted([]crawl.LogLine{line})
		if got := e.answer(); len(e.lines) != 0 || !strings.Contains(got, "scripts of a page want it") ||
			!strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
