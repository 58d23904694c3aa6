package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// visits counts the requests for each path of a server.
type visits struct {
	mu    sync.Mutex
	times map[string]int
	all   atomic.Int64
}

func (a *visits) count(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times == nil {
		a.times = map[string]int{}
	}
	a.times[path]++
	a.all.Add(1)
}

// listedSite has pages that each link to one of their own, feeds and sitemaps under all kinds of names, and a page that
// has moved to another host.
func listedSite(t *testing.T) (*httptest.Server, *visits) {
	t.Helper()
	a := &visits{}
	sitemap := func(path string) string {
		return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://HOST` + path +
			`</loc></url></urlset>`
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.count(r.URL.Path)
		var body string
		media := "text/html"
		switch path := r.URL.Path; {
		case path == "/robots.txt":
			http.NotFound(w, r)
			return
		case path == "/moved":
			http.Redirect(w, r, "http://localhost:"+r.Host[strings.LastIndexByte(r.Host, ':')+1:]+"/target", http.StatusFound)
			return
		case path == "/pages.xml":
			body, media = sitemap("/by-sitemap"), "application/xml"
		case path == "/pages.xml.gz":
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(strings.ReplaceAll(sitemap("/by-gz"), "HOST", r.Host)))
			_ = z.Close()
			body, media = b.String(), "application/gzip"
		case path == "/news":
			body, media = strings.ReplaceAll(rss, "/post", "/by-rss"), "application/rss+xml"
		case path == "/updates.atom":
			body, media = strings.ReplaceAll(atom, "/entry", "/by-atom"), "application/atom+xml"
		case strings.HasPrefix(path, "/by-"), strings.HasPrefix(path, "/linked"), path == "/target":
			body = "<title>" + path + "</title><p>a page that links to nothing"
		default:
			body = fmt.Sprintf("<title>%s</title><p>a page <a href='/linked%s'>further</a>", path, path)
		}
		w.Header().Set("Content-Type", media)
		fmt.Fprint(w, strings.ReplaceAll(body, "HOST", r.Host))
	}))
	t.Cleanup(srv.Close)
	return srv, a
}

// `crawl - --seeds -` reads standard input: BOM, CRLF, comments, and lines that are no URLs, which are told by number.
func TestSeedsFromStandardInput(t *testing.T) {
	long(t)
	srv, a := listedSite(t)
	dir := filepath.Join(t.TempDir(), "out")
	host := strings.TrimPrefix(srv.URL, "http://")
	list := "\ufeff" + srv.URL + "/a\r\n\r\n# a comment\r\nno url at all\r\n" + host +
		"/b   # without a scheme\r\nhttp://me:secret@" + host +
		"/c\r\n" + srv.URL + "/a\r\n  " + srv.URL + "/d#part"
	got := runWith(t, list, "crawl", "-", "--seeds", "-", "--allow-private", "--delay", "0s", "-o", dir)
	if got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	for _, says := range []string{"standard input: line 4: ", "standard input: line 6: ",
		"3 seeds of 8 lines, 1 known before, 2 lines are no seeds"} {
		if !strings.Contains(got.stderr, says) {
			t.Errorf("it does not say %q:\n%s", says, got.stderr)
		}
	}
	if strings.Contains(got.stderr, "secret") {
		t.Errorf("it tells a password:\n%s", got.stderr)
	}
	r := readResults(t, dir)
	for _, path := range []string{"/a", "/b", "/d", "/linked/a", "/linked/b", "/linked/d"} {
		if _, ok := r.Pages[srv.URL+path]; !ok || a.times[path] != 1 {
			t.Errorf("%s: stored %v, asked for %d times", path, ok, a.times[path])
		}
	}
	if len(r.Pages) != 6 {
		t.Errorf("%d pages stored, want 6", len(r.Pages))
	}
	if got := run(t, "explain", "-o", dir, srv.URL+"/a"); !strings.Contains(got.stdout,
		"a seed: scope and patterns do not bind it") {
		t.Errorf("explain of a seed of a list:\n%s", got.stdout)
	}
}

// A sitemap, a compressed one, an RSS feed whose name says nothing and an Atom feed are seeds: what they list is
// fetched.
func TestSitemapsAndFeedsAsSeeds(t *testing.T) {
	long(t)
	srv, _ := listedSite(t)
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"crawl", "--allow-private", "--delay", "0s", "--quiet", "-o", dir}
	for _, path := range []string{"/pages.xml", "/pages.xml.gz", "/news", "/updates.atom"} {
		args = append(args, srv.URL+path)
	}
	if got := run(t, args...); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	r := readResults(t, dir)
	for _, path := range []string{"/by-sitemap", "/by-gz", "/by-rss", "/by-atom"} {
		if _, ok := r.Pages[srv.URL+path]; !ok {
			t.Errorf("%s is not stored", path)
		}
	}
	for _, path := range []string{"/pages.xml", "/pages.xml.gz", "/updates.atom"} {
		if _, ok := r.Pages[srv.URL+path]; ok {
			t.Errorf("%s is stored as a page", path)
		}
	}
}

// With --url-list the URLs are fetched, and where they redirect to, wherever that is; links are left out with a reason.
func TestURLListFollowsNothing(t *testing.T) {
	long(t)
	srv, a := listedSite(t)
	tmp := t.TempDir()
	list, dir := filepath.Join(tmp, "urls.txt"), filepath.Join(tmp, "out")
	if err := os.WriteFile(list, []byte(srv.URL+"/a\n"+srv.URL+"/moved\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "crawl", "--url-list", list, "--allow-private", "--delay", "0s", "--quiet", "-o",
		dir); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	target := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) + "/target"
	r := readResults(t, dir)
	if _, ok := r.Pages[target]; !ok || len(r.Pages) != 2 {
		t.Errorf("stored are %d pages, the target of the redirect: %v; want 2, true", len(r.Pages), ok)
	}
	wantEnding(t, finalsIn(t, dir), srv.URL+"/linked/a", ending{crawl.VerdictExcluded, crawl.ReasonSeedsOnly, 0})
	if a.times["/linked/a"] != 0 {
		t.Error("a link was followed")
	}
}

// A crawl that is killed again and again while it reads its list loses no seed and stores none twice.
func TestKilledWhileSeedsAreRead(t *testing.T) {
	long(t)
	srv, a := listedSite(t)
	tmp := t.TempDir()
	const seeds = 40_000
	var text strings.Builder
	for i := range seeds {
		fmt.Fprintf(&text, "%s/page/%d\n", srv.URL, i)
	}
	list, dir := filepath.Join(tmp, "urls.txt"), filepath.Join(tmp, "out")
	if err := os.WriteFile(list, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := crawler{exe: program, dir: dir, args: []string{"crawl", "--url-list", list, "--allow-private", "--delay", "0s",
		"--host-connections", "8", "--quiet", "-o", dir}}
	early := 0
	for i := range 5 {
		p, before := c.start(t), a.all.Load()
		p.poll(t, "requests", func() bool { return a.all.Load() >= before+int64(1+50*i) })
		if !p.kill(t) {
			t.Fatal("it ended before it was killed")
		}
		if got := run(t, "status", "-o", dir); !strings.Contains(got.stdout, fmt.Sprintf("of %d URLs", seeds)) {
			early++
		}
	}
	c.start(t).wait(t)
	if r := readResults(t, dir); len(r.Pages) != seeds {
		t.Errorf("%d pages stored, want %d", len(r.Pages), seeds)
	}
	lines := map[string]int{}
	eachLine(t, filepath.Join(dir, "pages.jsonl"), func(line []byte) error { lines[string(line)]++; return nil })
	if len(lines) != seeds {
		t.Errorf("%d records, want %d", len(lines), seeds)
	}
	if early == 0 {
		t.Error("the list was always read before the kill: the test proves nothing")
	}
	t.Logf("killed %d times before the list was read", early)
}
