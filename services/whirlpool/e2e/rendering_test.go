package e2e_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/appweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// serveApp serves an application of so many pages until the test ends.
func serveApp(t *testing.T, pages int) *appweb.Web {
	t.Helper()
	w, err := appweb.Serve(t.Context(), "127.0.0.1", pages)
	harness.Check(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// noNames is a name server that knows no name: the application's sites have none.
func noNames(t *testing.T) string { return nameServer(t, nil, "") }

// appPages are the pages of a crawl of an application.
func appPages(t *testing.T, w *appweb.Web, dir string) appweb.Pages {
	t.Helper()
	pages, err := w.Read(dir)
	harness.Check(t, err)
	return pages
}

// renderedPages says of each page whether it was rendered, by URL.
func renderedPages(t *testing.T, dir string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	harness.Check(t, err)
	pages := map[string]bool{}
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		harness.Check(t, err)
		pages[r.URL.String()] = r.Rendered != nil
	}
	return pages
}

// noFaults complains of requests that nobody may make, and of what an audit finds.
func noFaults(t *testing.T, w *appweb.Web, delay time.Duration, dir string) {
	t.Helper()
	harness.Report(t, "requests that nobody may make", w.Faults("whirlpool-e2e", delay))
	if r := audit(t, dir); len(r.Faults) > 0 {
		t.Errorf("audit: %q", r.Faults)
	}
}

// An application that only scripts make is found whole beside plain pages, which cost a few renders; no request is made
// but the fetcher's.
func TestRendering(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	const delay = 60 * time.Millisecond
	w := serveApp(t, 28)
	c := crawlerOf(t, noNames(t), w.Job(delay))
	c.start(t).wait(t)
	pages := appPages(t, w, c.dir)
	harness.Report(t, "pages", w.Lacks(pages))
	if n := pages.RenderedPlain(); n > 10 {
		t.Errorf("%d plain pages of one template were rendered, want 10 at most", n)
	}
	noFaults(t, w, delay, c.dir)
	t.Logf("%d pages, %d plain ones of them rendered", len(pages), pages.RenderedPlain())
}

// Without a browser a crawl that would like one goes on, and one that insists does not begin.
func TestRenderingWithoutABrowser(t *testing.T) {
	long(t)
	w := serveApp(t, 5)
	job := w.Job(0)
	c := crawlerOf(t, noNames(t), job, "--browser", filepath.Join(t.TempDir(), "none"))
	p := c.start(t)
	p.wait(t)
	if n := strings.Count(p.out.String(), "pages are not rendered"); n != 1 {
		t.Errorf("it says so %d times:\n%s", n, p.out.String())
	}
	job.Render.Mode = crawl.RenderAlways
	c = crawlerOf(t, noNames(t), job, "--browser", filepath.Join(t.TempDir(), "none"))
	p = c.start(t)
	<-p.ended
	if exit, _ := exitOf(p.err); exit == 0 || !strings.Contains(p.out.String(), "always") {
		t.Errorf("always, without a browser: exit %d, %s", exit, p.out.String())
	}
}

// Whenever the crawler, or the browser, is killed, the crawl ends with the same pages, texts and links.
func TestRenderingSurvivesKills(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	kills := harness.Number(t, "WHIRLPOOL_E2E_RENDER_KILLS", 4)
	size := max(16, 4*kills) // there is something to kill all the way
	calm := serveApp(t, size)
	undisturbed := crawlerOf(t, noNames(t), calm.Job(0))
	undisturbed.start(t).wait(t)
	want := appPages(t, calm, undisturbed.dir)
	harness.Report(t, "pages", calm.Lacks(want))
	for _, victim := range []string{"crawler", "browser"} {
		t.Run(victim, func(t *testing.T) {
			w := serveApp(t, size)
			c := crawlerOf(t, noNames(t), w.Job(0))
			p := c.start(t)
			killed := 0
			for i := range kills { // one in each part of the crawl but the last, however fast it is
				steps := appweb.StepsOf(size) * i / (kills + 1)
				steps += rand.N(appweb.StepsOf(size) / (kills + 1))
				harness.Until(t, patience, "pages", func() bool { return w.Steps() >= steps || p.over() })
				if victim == "browser" {
					// It is started with the first page. After one that dies while it starts the next one waits long, so most
					// are to live a while.
					harness.Until(t, patience, "a browser", func() bool { return harness.HasBrowser(p.cmd.Process.Pid) || p.over() })
					select {
					case <-p.ended:
					case <-time.After(rand.N(2 * time.Second)):
					}
					killed += harness.KillBrowsers(p.cmd.Process.Pid)
				} else if p.kill(t) {
					killed++
					p = c.start(t)
				}
			}
			p.wait(t)
			if exit, _ := exitOf(p.err); exit != 0 {
				t.Fatalf("exit %d: %s", exit, p.out.String())
			}
			got := appPages(t, w, c.dir)
			harness.Report(t, "pages", want.Differs(got))
			if t.Failed() { // what became of the renders
				t.Log(run(t, "status", "-o", c.dir).stdout)
			}
			noFaults(t, w, 0, c.dir)
			if left := harness.LostBrowsers(time.Minute); len(left) > 0 {
				t.Errorf("browsers are left: %v", left)
			}
			if t.Logf("%d kills of the %s; %d pages", killed, victim, len(got)); killed == 0 {
				t.Error("nothing was killed before the crawl had ended: the test proves nothing")
			}
		})
	}
}
