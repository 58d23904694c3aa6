package fetcher

import (
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const emptyShell = `<!DOCTYPE html><html><head><title>Shop</title><style>body{margin:0}</style>` +
	`<script type="module" src="/app.js"></script></head>` +
	`<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`

// The shell of an application that comes with 404 is a page to be rendered, where pages are rendered at all. Whatever
// else comes with it, and what was visited before, is gone.
func TestShellsThatAreNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		body, kind string
		status     int
		mode       crawl.RenderMode
		visit      int
		want       crawl.Verdict
	}{
		"shell": {mode: crawl.RenderAuto, want: crawl.VerdictDone},
		"leads on": {mode: crawl.RenderAuto, want: crawl.VerdictDone, body: `<title>x</title><script>
			var l = window.location; l.replace(l.origin + "/?/" + l.pathname.slice(1))</script><body></body>`},
		"says so": {mode: crawl.RenderAuto,
			body: strings.Replace(emptyShell, "<title>Shop", "<title>Page Not Found | Shop", 1)},
		"counts its visitors": {mode: crawl.RenderAuto,
			body: `<h1>Gone</h1><script>var p = location.pathname.replace(/x/, "")</script>`},
		"not rendered":    {mode: crawl.RenderNever},
		"gone for good":   {mode: crawl.RenderAuto, status: http.StatusGone},
		"visited again":   {mode: crawl.RenderAuto, visit: 1},
		"of another type": {mode: crawl.RenderAuto, kind: "application/json"},
		"a word of its own": {mode: crawl.RenderAuto, body: strings.Replace(emptyShell, "</body>",
			"<p>The page that you look for is not here, or never was.</p></body>", 1)},
		"no scripts": {mode: crawl.RenderAuto, body: `<div id="root"></div>`},
		"long":       {mode: crawl.RenderAuto, body: emptyShell + "<!--" + strings.Repeat("x", mostShell) + "-->"},
		"empty":      {mode: crawl.RenderAuto, body: " "},
	} {
		t.Run(name, func(t *testing.T) {
			body, kind, status, want := c.body, c.kind, c.status, c.want
			if body == "" {
				body = emptyShell
			}
			if kind == "" {
				kind = "text/html; charset=utf-8"
			}
			if status == 0 {
				status = http.StatusNotFound
			}
			reason := ""
			if want != crawl.VerdictDone {
				want, reason = crawl.VerdictGone, crawl.ReasonStatus
			}
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			})
			b := newBench(t, func(_ *Config, _ *Deps, job *crawl.Job) { job.Render.Mode = c.mode })
			r := b.get(url+"/item/1", func(f *crawl.Fetch) { f.Task.Visit = c.visit })
			r.want(t, want, reason)
			if (r.page != nil) != (want == crawl.VerdictDone) {
				t.Errorf("page %+v", r.page)
			}
			if r.page != nil && (r.page.Status != http.StatusNotFound || r.page.Bytes != int64(len(body))) {
				t.Errorf("page %+v", r.page)
			}
		})
	}
}
