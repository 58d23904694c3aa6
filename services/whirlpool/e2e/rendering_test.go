package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// appWeb is an application whose pages only scripts make, on app.test, beside plain pages on plain.test. It notes each
// request.
type appWeb struct {
	port  string
	pages int // of the application, its start page included
	mu    sync.Mutex
	log   []appCall
}

// appCall is one request.
type appCall struct {
	host, method, uri, agent string
	began, ended             time.Time
}

// appScript is the application: a list from an API, a chunk that is loaded when it is needed, a link after a timer, and
// what a page must not get.
const appScript = `const root = document.getElementById("root");
fetch("/api/list?of=" + encodeURIComponent(location.pathname)).then(r => r.json()).then(async list => {
  const { show } = await import("/chunk-1a2b3c4d.js");
  root.innerHTML = "<h1>Page " + location.pathname + "</h1>";
  for (const n of list) root.append(show(n));
  setTimeout(() => { const a = document.createElement("a"); a.href = "/late/1"; a.textContent = "late"; root.append(a) }, 3000);
});
fetch("/private/data").catch(() => 0);
fetch("/api/send", { method: "POST", body: "x" }).catch(() => 0);
new Image().src = "/pixel.png";
navigator.sendBeacon("/beacon", "x");
try { new WebSocket("ws://" + location.host + "/socket") } catch (e) {}
try { new EventSource("/events") } catch (e) {}
if (navigator.serviceWorker) navigator.serviceWorker.register("/worker.js").catch(() => 0);
fetch("http://169.254.169.254/latest/meta-data/").catch(() => 0);
`

const appChunk = `export function show(n) { const p = document.createElement("p"), a = document.createElement("a");
  a.href = "/item/" + n; a.textContent = "Item number " + n; p.append("It is the item number " + n + " of a long list. ", a); return p }
`

func newAppWeb(t *testing.T, pages int) *appWeb {
	t.Helper()
	w := &appWeb{pages: pages}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	_, w.port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	return w
}

func (w *appWeb) url(host, path string) string { return "http://" + host + ".test:" + w.port + path }

// ServeHTTP implements http.Handler.
func (w *appWeb) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	c := appCall{method: r.Method, uri: r.URL.RequestURI(), agent: r.UserAgent(), began: time.Now()}
	c.host, _, _ = net.SplitHostPort(r.Host)
	kind, body := w.answer(c.host, r)
	if body == "" {
		http.NotFound(to, r)
	} else {
		to.Header().Set("Content-Type", kind)
		_, _ = to.Write([]byte(body))
	}
	c.ended = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, c)
}

func (w *appWeb) answer(host string, r *http.Request) (kind, body string) {
	path := r.URL.Path
	switch {
	case path == "/robots.txt":
		return "text/plain", "User-agent: *\nDisallow: /private/\n"
	case host == "plain.test" && path == "/stats.js":
		return "text/javascript", "window.counted = 1"
	case host == "plain.test" && strings.HasPrefix(path, "/p/"):
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html><title>Plain %s</title><script src=/stats.js></script><div id=root></div><p>%s</p>", path,
			strings.Repeat("Words about "+path+" that stand in the page itself. ", 12))
		for i := range 50 {
			fmt.Fprintf(&b, "<a href=/p/%d>%d</a> ", i, i)
		}
		return "text/html", b.String()
	case host != "app.test":
		return "", ""
	case path == "/app.js":
		return "text/javascript", appScript
	case path == "/chunk-1a2b3c4d.js":
		return "text/javascript", appChunk
	case path == "/api/list":
		var list []string
		at, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("of"), "/item/"))
		for n := 3*at + 1; n <= 3*at+3 && n < w.pages-1; n++ { // a tree of pages, so that each is found by a render only
			list = append(list, strconv.Itoa(n))
		}
		return "application/json", "[" + strings.Join(list, ",") + "]"
	case path == "/" || strings.HasPrefix(path, "/item/") || path == "/late/1":
		return "text/html", `<!doctype html><title>The app</title><div id="root"></div><script type="module" src="/app.js"></script>`
	}
	return "", ""
}

// faults are requests that nobody may make: not the fetcher's, forbidden, or too soon after the one before.
func (w *appWeb) faults(agents string, delay time.Duration) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := map[string]appCall{}
	calls := slices.Clone(w.log)
	slices.SortFunc(calls, func(a, b appCall) int { return a.began.Compare(b.began) })
	for _, c := range calls {
		switch gap := c.began.Sub(last[c.host].ended); {
		case c.method != http.MethodGet:
			out = append(out, c.method+" "+c.uri)
		case !strings.HasPrefix(c.agent, agents):
			out = append(out, c.uri+" by "+c.agent)
		case strings.HasPrefix(c.uri, "/private/"):
			out = append(out, "forbidden: "+c.uri)
		case last[c.host].ended != (time.Time{}) && gap < delay-10*time.Millisecond && last[c.host].agent == c.agent:
			out = append(out, fmt.Sprintf("too soon by %v: %s after %s", delay-gap, c.uri, last[c.host].uri))
		}
		last[c.host] = c
	}
	return out
}

// appJob crawls both hosts.
func (w *appWeb) job(delay time.Duration) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.MaxPages, job.NearDuplicate = "app", []string{w.url("app", "/"), w.url("plain", "/p/0")}, 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), 0
	job.Render.Mode = crawl.RenderAuto
	return &job
}

func (w *appWeb) names(t *testing.T) string {
	return nameServer(t, map[string]string{".test.": "127.0.0.1"}, "")
}

// appPage is what a record has of a page that matters here.
type appPage struct {
	text     string
	links    string
	rendered bool
}

// appPages reads the records of a crawl.
func appPages(t *testing.T, dir string) map[string]appPage {
	t.Helper()
	out := map[string]appPage{}
	data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	harness.Check(t, err)
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		harness.Check(t, err)
		var links []string
		for i := range r.Links {
			links = append(links, r.Links[i].URL.String())
		}
		if _, twice := out[r.URL.String()]; twice {
			t.Errorf("two records of %s", r.URL)
		}
		out[r.URL.String()] = appPage{r.Text, strings.Join(links, " "), r.Rendered != nil}
	}
	return out
}

// wantApp complains of pages of the application that were not found, or not rendered.
func (w *appWeb) wantApp(t *testing.T, pages map[string]appPage) {
	t.Helper()
	want := []string{w.url("app", "/"), w.url("app", "/late/1")}
	for n := 1; n < w.pages-1; n++ {
		want = append(want, w.url("app", "/item/"+strconv.Itoa(n)))
	}
	for _, u := range want {
		p, found := pages[u]
		switch {
		case !found:
			t.Errorf("%s was not found", u)
		case !p.rendered || !strings.Contains(p.text+p.links, "/late/1"):
			t.Errorf("%s was not rendered, or not to its end: %+v", u, p)
		}
	}
	for i := range 50 {
		if _, found := pages[w.url("plain", fmt.Sprintf("/p/%d", i))]; !found {
			t.Errorf("plain page %d was not found", i)
		}
	}
}

// needChromium skips a test where there is no browser.
func needChromium(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("WHIRLPOOL_TEST_BROWSER") == "required" {
			t.Fatal("there is no chromium: deploy/studio/need installs it")
		}
		t.Skip("there is no chromium: deploy/studio/need installs it")
	}
}

// An application that only scripts make is found whole beside plain pages, which cost a few renders; no request is made
// but the fetcher's.
func TestRendering(t *testing.T) {
	long(t)
	needChromium(t)
	const delay = 60 * time.Millisecond
	w := newAppWeb(t, 28)
	c := crawlerOf(t, w.names(t), w.job(delay))
	c.start(t).wait(t)
	pages := appPages(t, c.dir)
	w.wantApp(t, pages)
	plain := 0
	for u, p := range pages {
		if p.rendered && strings.HasPrefix(u, w.url("plain", "/")) {
			plain++
		}
	}
	if plain > 10 {
		t.Errorf("%d plain pages of one template were rendered, want 10 at most", plain)
	}
	if faults := w.faults("whirlpool-e2e", delay); len(faults) > 0 {
		t.Errorf("%d requests that nobody may make, the first: %s", len(faults), faults[0])
	}
	if r := audit(t, c.dir); len(r.Faults) > 0 {
		t.Errorf("audit: %q", r.Faults)
	}
	t.Logf("%d pages, %d plain ones of them rendered", len(pages), plain)
}

// Without a browser a crawl that would like one goes on, and one that insists does not begin.
func TestRenderingWithoutABrowser(t *testing.T) {
	long(t)
	w := newAppWeb(t, 5)
	job := w.job(0)
	c := crawlerOf(t, w.names(t), job, "--browser", filepath.Join(t.TempDir(), "none"))
	p := c.start(t)
	p.wait(t)
	if n := strings.Count(p.out.String(), "pages are not rendered"); n != 1 {
		t.Errorf("it says so %d times:\n%s", n, p.out.String())
	}
	job.Render.Mode = crawl.RenderAlways
	c = crawlerOf(t, w.names(t), job, "--browser", filepath.Join(t.TempDir(), "none"))
	p = c.start(t)
	<-p.ended
	if exit, _ := exitOf(p.err); exit == 0 || !strings.Contains(p.out.String(), "always") {
		t.Errorf("always, without a browser: exit %d, %s", exit, p.out.String())
	}
}

// Whenever the crawler, or the browser, is killed, the crawl ends with the same pages, texts and links.
func TestRenderingSurvivesKills(t *testing.T) {
	long(t)
	needChromium(t)
	kills := harness.Number(t, "WHIRLPOOL_E2E_RENDER_KILLS", 4)
	calm := newAppWeb(t, 16)
	undisturbed := crawlerOf(t, calm.names(t), calm.job(0))
	began := time.Now()
	undisturbed.start(t).wait(t)
	took := time.Since(began)
	want := appPages(t, undisturbed.dir)
	calm.wantApp(t, want)
	for _, victim := range []string{"crawler", "browser"} {
		t.Run(victim, func(t *testing.T) {
			w := newAppWeb(t, 16)
			c := crawlerOf(t, w.names(t), w.job(0))
			p := c.start(t)
			killed := 0
			for range kills {
				select {
				case <-p.ended:
				case <-time.After(rand.N(took / 2)): // spreads the instants
				}
				if victim == "browser" {
					killed += killBrowsers(t, p.cmd.Process.Pid)
				} else if p.kill(t) {
					killed++
					p = c.start(t)
				}
			}
			p.wait(t)
			if exit, _ := exitOf(p.err); exit != 0 {
				t.Fatalf("exit %d: %s", exit, p.out.String())
			}
			got := appPages(t, c.dir)
			for _, u := range slices.Sorted(maps.Keys(want)) {
				at := strings.Replace(u, calm.port, w.port, 1)
				a, b := want[u], got[at]
				b.links = strings.ReplaceAll(b.links, w.port, calm.port)
				if a.rendered != b.rendered && strings.Contains(u, "plain.") {
					continue // which of the plain pages are tried is chance
				}
				if a != b {
					t.Errorf("%s: %+v, undisturbed %+v", at, b, a)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d pages, undisturbed %d", len(got), len(want))
			}
			if r := audit(t, c.dir); len(r.Faults) > 0 {
				t.Errorf("audit: %q", r.Faults)
			}
			if faults := w.faults("whirlpool-e2e", 0); len(faults) > 0 {
				t.Errorf("%d requests that nobody may make, the first: %s", len(faults), faults[0])
			}
			if left := browsersOf(c.dir); len(left) > 0 {
				t.Errorf("browsers are left: %v", left)
			}
			t.Logf("%d kills of the %s; %d pages", killed, victim, len(got))
		})
	}
}

// killBrowsers kills the browser of a crawler, if it has one.
func killBrowsers(t *testing.T, parent int) (n int) {
	t.Helper()
	for _, pid := range childrenOf(parent) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.HasPrefix(string(name), "chrom") {
			if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
				n++
			}
		}
	}
	return n
}

// childrenOf are the processes that a process has started.
func childrenOf(parent int) (out []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(rest) > 1 && rest[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			out = append(out, pid)
		}
	}
	return out
}

// browsersOf are the browsers that no process of this test's started crawlers looks after any more: their parent is
// gone.
func browsersOf(string) (out []int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		out = out[:0]
		for _, pid := range childrenOf(1) {
			if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.HasPrefix(string(name), "chrom") {
				out = append(out, pid)
			}
		}
		if len(out) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
	}
}
