package e2e_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wacztest"
)

// A picture of one pixel.
const pixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// assetSite is a site with all kinds of requisites, some on another host. %[1]s is the other host.
var assetSite = map[string][2]string{
	"/": {"text/html",
		`<!doctype html><title>home</title><link rel=stylesheet href="/style.css?v=1" integrity="sha256-AAAA" crossorigin>
<link rel=icon href=/icon.gif><script src=script.js></script><style>@import "imported.css"; #s { background: url(/styled.gif) }</style>
<img src=direct.gif><img srcset="/small.gif 1x, /large.gif 2x"><picture><source srcset="%[1]s/other.gif"><img src=fallback.gif></picture>
<video poster=/poster.gif></video><p id=s style="background:url('inline.gif')">text</p><img src=/missing.gif><img src="%[1]s/private/no.gif">
<svg><image href="/svg.gif"/></svg><object data="/framed"></object><a href="/linked.gif"><img src="/linked.gif"></a>
<a href=/dir>dir</a> <a href=/dir/>dir/</a> <a href="/q?b=1&amp;c=2#frag">query</a> <a href="/Q">Q</a> <a href="/q">q</a>
<a href=/redirect>redirect</a> <a href="%[1]s/elsewhere">elsewhere</a> <a href="/latin">latin</a> <a href="/based/page">based</a>
<a href="/a%%2e%%2e/..%%2f..%%2f..%%2fetc/passwd.html">up</a> <a href="/con">con</a> <a href="/ü/ä.html">u</a> <a href="mailto:a@b.test">mail</a>
<a href="/` + strings.Repeat("long", 100) + `">long</a>`},
	"/style.css": {"text/css",
		`@import url("deep.css"); body { background: url(bg.gif) } @font-face { font-family: f; src: url(%[1]s/font.woff2) }`},
	"/deep.css":     {"text/css", `p { list-style: url("deep.gif") }`},
	"/imported.css": {"text/css; charset=iso-8859-1", "p::after { content: \"\xe4\" }"},
	"/script.js":    {"text/javascript", `document.documentElement.dataset.ran = "yes"`},
	"/framed":       {"text/html", `<title>framed</title><p>a page shown as an object`},
	"/dir":          {"text/html", `<title>dir</title>a page without a slash`},
	"/dir/":         {"text/html", `<title>dir slash</title>a page with a slash, and more words <a href=../q>q</a>`},
	"/q":            {"text/html", `<title>q</title><h1 id=frag>a query</h1><a href=/>home</a>`},
	"/Q":            {"text/html", `<title>capital Q</title>only the case is different <a href="#top">top</a>`},
	"/target":       {"text/html", `<title>target</title>where the redirect leads`},
	"/latin":        {"text/html; charset=iso-8859-1", "<title>latin</title><p id=l>\xe4\xf6\xfc"},
	"/based/page": {"text/html",
		`<title>based</title><base href="/"><img src=based.gif><a href="q#frag">q</a><a href="#here">here</a>`},
	"/con":            {"text/html", `<title>con</title>a device on some systems`},
	"/ü/ä.html":       {"text/html; charset=utf-8", `<title>ä</title><img src="../direct.gif">`},
	"/etc/passwd":     {"text/html", `<title>passwd</title>no`},
	"/favicon.ico":    {"image/gif", pixel},
	"/private/no.gif": {"image/gif", pixel},
}

// serveAssets serves the site, and the other host.
func serveAssets(t *testing.T) (site, other *httptest.Server, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	handler := func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		path := r.URL.Path
		answer, ok := assetSite[path]
		switch {
		case path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
			return
		case path == "/redirect":
			http.Redirect(w, r, "/target", http.StatusFound)
			return
		case !ok && strings.HasSuffix(path, ".gif") && path != "/missing.gif":
			answer, ok = [2]string{"image/gif", pixel}, true
		case !ok && strings.HasSuffix(path, ".woff2"):
			answer, ok = [2]string{"font/woff2", "no font"}, true
		case !ok && (strings.HasPrefix(path, "/longlong") || strings.HasSuffix(path, "passwd.html")):
			answer, ok = [2]string{"text/html", "<title>odd</title>" + path}, true
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		body := answer[1]
		if strings.Contains(body, "%[1]s") {
			body = fmt.Sprintf(body, other.URL)
		}
		w.Header().Set("Content-Type", answer[0])
		fmt.Fprint(w, body)
	}
	other = httptest.NewServer(http.HandlerFunc(handler))
	site = httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(other.Close)
	t.Cleanup(site.Close)
	return site, other, requests
}

func mirrorArgs(site, dir, copyTo string, more ...string) []string {
	return append([]string{"crawl", site + "/", "--allow-private", "--delay", "0s", "--ip-delay", "0s", "--scope", "host",
		"-o", dir, "--mirror", copyTo, "--wacz", copyTo + ".wacz", "--near-duplicate", "-1"}, more...)
}

// Assets are fetched, and are no pages; the copy is whole, within its directory, and its references lead to its files.
func TestMirror(t *testing.T) {
	long(t)
	site, other, _ := serveAssets(t)
	dir, to := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "copy")
	if got := run(t, mirrorArgs(site.URL, dir, to)...); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	results := readResults(t, dir)
	for u := range results.Pages {
		if strings.HasSuffix(u, ".gif") || strings.HasSuffix(u, ".css") || strings.HasSuffix(u, ".js") ||
			strings.HasPrefix(u, other.URL) {
			t.Errorf("%s is stored as a page", u)
		}
	}
	if _, ok := results.Pages[site.URL+"/framed"]; !ok {
		t.Error("a page that was shown as an object is not stored")
	}
	ends := finalsIn(t, dir)
	wantEnding(t, ends, other.URL+"/private/no.gif", ending{crawl.VerdictBlocked, crawl.ReasonRobots, 0})
	wantEnding(t, ends, other.URL+"/font.woff2", ending{crawl.VerdictDone, "", http.StatusOK})
	host := filepath.Join(to, strings.ReplaceAll(strings.TrimPrefix(site.URL, "http://"), ":", "+"))
	home := read(t, filepath.Join(host, "index.html"))
	otherHost := strings.ReplaceAll(strings.TrimPrefix(other.URL, "http://"), ":", "+")
	for _, want := range []string{`href="style.css@v=1.css" data-was-integrity=`, `src=script.js`,
		`@import "imported.css"`, `url(styled.gif)`, `srcset="small.gif 1x, large.gif 2x"`,
		`srcset="../` + otherHost + `/other.gif"`, `poster="poster.gif"`, `url('inline.gif')`,
		`src="` + site.URL + `/missing.gif"`, `href="svg.gif"`, `data="framed.html"`, `href="linked.gif"`, `href="dir.html"`,
		`href="dir/index.html"`, `href="q@b=1&amp;c=2.html#frag"`, `href="target.html"`, `href="` + other.URL + `/elsewhere"`,
		`href="mailto:a@b.test"`, `href="_con.html"`, `href="%C3%BC/%C3%A4.html"`} {
		if !strings.Contains(home, strings.ReplaceAll(want, "q@b=1&amp;c=2.html", "q@b=1%26c=2.html")) {
			t.Errorf("the home page has no %s:\n%s", want, home)
		}
	}
	if q, other := find(t, host, "q"), find(t, host, "Q"); len(q)+len(other) < 2 {
		t.Errorf("%q and %q: the two are to have files of their own on every file system", q, other)
	}
	if based := read(t, filepath.Join(host, "based", "page.html")); !strings.Contains(based, `<base href="">`) ||
		!strings.Contains(based, `src="../based.gif"`) || !strings.Contains(based, `#frag"`) {
		t.Errorf("the page with a base: %s", based)
	}
	if latin := read(t, filepath.Join(host, "latin.html")); !strings.HasPrefix(latin, "\uFEFF") ||
		!strings.Contains(latin, "äöü") {
		t.Errorf("the page in Latin-1: %q", latin)
	}
	for _, name := range filesIn(t, to) {
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > 200 || part == ".." || strings.ContainsAny(part, `\:*?"<>|`) {
				t.Errorf("%s is no name for every file system", name)
			}
		}
	}
	wacztest.Check(t, to+".wacz")
	explained := run(t, "explain", "-o", dir, site.URL+"/deep.gif")
	if !strings.Contains(explained.stdout, "asset      of "+site.URL+"/deep.css") {
		t.Errorf("explain: %s", explained.stdout)
	}
}

// find returns the files of a directory that begin with a name, whatever follows ~ or a dot.
func find(t *testing.T, dir, name string) (found []string) {
	t.Helper()
	for _, f := range filesIn(t, dir) {
		if base, _, _ := strings.Cut(strings.TrimSuffix(f, ".html"), "~"); base == name {
			found = append(found, f)
		}
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// filesIn lists the files below a directory.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A crawl that was killed again and again leaves the copy of one that was not.
func TestMirrorAfterKills(t *testing.T) {
	long(t)
	site, _, requests := serveAssets(t)
	calm, calmDir := filepath.Join(t.TempDir(), "calm"), t.TempDir()
	if got := run(t, mirrorArgs(site.URL, filepath.Join(calmDir, "crawl"), calm, "--quiet")...); got.exit != 0 {
		t.Fatal(got.stderr)
	}
	all := requests.Load()
	dir, to := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "copy")
	args := mirrorArgs(site.URL, dir, to, "--quiet")
	for i := range int64(4) {
		requests.Store(0)
		p := crawler{exe: program, args: args}.start(t)
		p.poll(t, "requests", func() bool { return requests.Load() >= (i+1)*all/8 })
		p.kill(t)
	}
	if got := run(t, args...); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	want, got := filesIn(t, calm), filesIn(t, to)
	if !slices.Equal(want, got) {
		t.Errorf("files of the copy:\n%q\nundisturbed:\n%q", got, want)
	}
	for _, name := range want {
		a, b := read(t, filepath.Join(calm, name)), read(t, filepath.Join(to, name))
		if sha256.Sum256([]byte(a)) != sha256.Sum256([]byte(b)) {
			t.Errorf("%s is another than undisturbed:\n%s\n%s", name, b, a)
		}
	}
	wacztest.Check(t, to+".wacz")
}

// The copy shows what the site shows, without a network.
func TestMirrorInABrowser(t *testing.T) {
	long(t)
	site, other, _ := serveAssets(t)
	to := filepath.Join(t.TempDir(), "copy")
	if got := run(t, mirrorArgs(site.URL, filepath.Join(t.TempDir(), "crawl"), to, "--quiet")...); got.exit != 0 {
		t.Fatal(got.stderr)
	}
	site.Close()
	other.Close()
	b := chromium(t, offline...)
	missing := []string{site.URL + "/missing.gif", other.URL + "/private/no.gif"}
	for _, name := range filesIn(t, to) {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		failed, _ := b.show(fileURL(filepath.Join(to, name)))
		for u, why := range failed {
			if !slices.Contains(missing, u) {
				t.Errorf("%s: %s failed: %s", name, u, why)
			}
		}
		if strings.HasSuffix(name, "/index.html") && strings.Count(name, "/") == 1 {
			if got := b.eval("document.documentElement.dataset.ran"); got != "yes" {
				t.Errorf("its script did not run: %s", got)
			}
		}
		if strings.HasSuffix(name, "latin.html") {
			if got := b.eval("document.getElementById('l').textContent"); got != "äöü" {
				t.Errorf("%s says %s", name, got)
			}
		}
	}
}

// offline keeps a browser from every network.
var offline = []string{"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:9"}

// manual is the Python manual as Debian has it (python3-doc), or another, of which WHIRLPOOL_TEST_MANUAL is the
// directory.
func manual(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("WHIRLPOOL_TEST_MANUAL"); dir != "" {
		return dir
	}
	found, _ := filepath.Glob("/usr/share/doc/python3*/html/index.html")
	if len(found) == 0 {
		t.Skip("the Python manual is not installed (Debian: apt-get install python3-doc)")
	}
	return filepath.Dir(found[0])
}

// madeByScripts are files of the manual whose URLs its scripts put together: no crawler knows them that runs none. The
// index of modules makes plus.png of minus.png, and the search page asks for glossary.json, which browsers never allow
// for files.
var madeByScripts = map[string]bool{"plus.png": true, "glossary.json": true}

// A copy of the Python manual opens in a browser without a network: no request fails but those to other hosts.
func TestMirrorOfThePythonManual(t *testing.T) {
	long(t)
	srv := httptest.NewServer(http.FileServer(http.Dir(manual(t))))
	t.Cleanup(srv.Close)
	to, dir := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "crawl")
	if got := run(t, mirrorArgs(srv.URL, dir, to, "--quiet", "--host-connections", "4")...); got.exit != 0 {
		t.Fatal(got.stderr)
	}
	if n := len(readResults(t, dir).Pages); n < 400 {
		t.Fatalf("%d pages: the manual has more", n)
	}
	wacztest.Check(t, to+".wacz")
	b := chromium(t, offline...)
	pages, requests := 0, 0
	for i, name := range filesIn(t, to) {
		if !strings.HasSuffix(name, ".html") || os.Getenv("WHIRLPOOL_TEST_ALL_PAGES") == "" && i%8 != 0 &&
			!strings.HasSuffix(name, "index.html") {
			continue
		}
		failed, n := b.show(fileURL(filepath.Join(to, name)))
		pages, requests = pages+1, requests+n
		for u, why := range failed {
			if (strings.HasPrefix(u, "file:") || strings.HasPrefix(u, srv.URL)) && !madeByScripts[filepath.Base(u)] {
				t.Errorf("%s: %s failed: %s", name, u, why)
			}
		}
		if strings.HasSuffix(name, "library/index.html") {
			b.shot("python-manual")
			if got := b.eval("getComputedStyle(document.querySelector('div.body')).fontFamily + document.styleSheets.length"); !strings.Contains(got, "sans") {
				t.Errorf("%s has the style %s", name, got)
			}
		}
	}
	t.Logf("%d pages, %d requests", pages, requests)
}
