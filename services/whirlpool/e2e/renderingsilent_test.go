package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// An application names a script and data on sites that refuse connections. It is rendered without them before the last
// attempt to reach those, and the crawl ends before that, too.
func TestRenderingDoesNotWaitForSitesThatDoNotAnswer(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	library, counter := nobody(t, "127.0.0.8"), nobody(t, "127.0.0.9")
	srv := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" && r.URL.Path != "/made" {
			http.NotFound(to, r)
			return
		}
		_,
			_ = fmt.Fprintf(to,
			`<!doctype html><title>An application</title><div id=root></div><script src="http://%s/lib.js"></script>
			<script>fetch("http://%s/count?of=" + location.pathname).catch(() => 0).then(() => {
			root.innerHTML = "<p>Made by a script, with more text than the page has by itself, and <a href=/made>a link</a>." })</script>`,
			library, counter)
	}))
	defer srv.Close()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.NearDuplicate, job.Scope = "silent", []string{srv.URL + "/"}, -1, crawl.ScopeHost
	job.Politeness.Delay, job.Politeness.IPDelay, job.Render.Mode = 0, 0, crawl.RenderAuto
	c := crawlerOf(t, noNames(t), &job)
	c.start(t).wait(t)
	rendered, attempts := map[string]bool{}, 0
	eachLine(t, filepath.Join(c.dir, "crawl.log"), func(line []byte) error {
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			return err
		}
		if l.Kind == crawl.KindRender {
			rendered[l.URL.String()] = true
		}
		if l.Kind == crawl.KindRobots {
			attempts = max(attempts, l.Attempt)
		}
		return nil
	})
	if len(rendered) != 2 {
		t.Errorf("rendered: %v, want two pages", rendered)
	}
	if attempts != 3 {
		t.Errorf("%d attempts to reach a site that does not answer, want 3", attempts)
	}
	// it has ended: this says what it brought
	said, err := exec.Command(program, "crawl", "-o", c.dir, "--allow-private").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "done: 2 pages in ") {
		t.Errorf("two pages have records, those as they were fetched are replaced; the command says: %v\n%s", err, said)
	}
	for u, whole := range renderedPages(t, c.dir) {
		if !whole || !strings.HasPrefix(u, srv.URL) {
			t.Errorf("the page %s: rendered %t", u, whole)
		}
	}
}

// nobody is an address at which nobody listens.
func nobody(t *testing.T, ip string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	harness.Check(t, err)
	defer l.Close()
	return l.Addr().String()
}
