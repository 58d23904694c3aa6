package mirror_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/mirror"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func parsed(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

type answer struct {
	url, status, media, body, location string
	notModified                        bool
	ranges                             string // Content-Range
}

// archived writes answers, one a second, and returns the archive's directory.
func archived(t *testing.T, all ...answer) string {
	t.Helper()
	dir := t.TempDir()
	w, err := warc.Open(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, a := range all {
		x := &crawl.Exchange{URL: parsed(t, a.url), Started: at.Add(time.Duration(i) * time.Second), Method: "GET",
			Proto: "HTTP/1.1", Status: a.status, ResponseHeader: http.Header{}, Body: []byte(a.body), NotModified: a.notModified}
		if a.media != "" {
			x.ResponseHeader.Set("Content-Type", a.media)
		}
		if a.location != "" {
			x.ResponseHeader.Set("Location", a.location)
		}
		if a.ranges != "" {
			x.ResponseHeader.Set("Content-Range", a.ranges)
		}
		if err := w.Write(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func written(t *testing.T, opt mirror.Options) (string, mirror.Summary) {
	t.Helper()
	opt.Dir = filepath.Join(t.TempDir(), "copy")
	opt.Canonical = func(u weburl.URL) weburl.URL {
		return weburl.NewCanonicalizer(weburl.DefaultCanonical()).Canonical(u)
	}
	s, err := mirror.Write(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return opt.Dir, s
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAPartThatIsTheWholeCounts(t *testing.T) {
	dir, _ := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/whole.txt", status: "206 Partial Content", media: "text/plain", body: "hello",
			ranges: "bytes 0-4/5"},
		answer{url: "http://a.test/part.txt", status: "206 Partial Content", media: "text/plain", body: "hello",
			ranges: "bytes 0-4/9"})}})
	if got := content(t, dir, "a.test/whole.txt"); got != "hello" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.test/part.txt")); err == nil {
		t.Error("a part is in the copy")
	}
}

// The last good answer of a URL counts: revisits have the body they refer to, what is unchanged keeps its own, and an
// error takes nothing away.
func TestTheLastGoodAnswerCounts(t *testing.T) {
	long := strings.Repeat("the same text again ", 50)
	dir, s := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/twice", status: "200 OK", media: "text/plain", body: "old"},
		answer{url: "http://a.test/twice", status: "200 OK", media: "text/plain", body: "new"},
		answer{url: "http://a.test/long", status: "200 OK", media: "text/plain", body: long},
		answer{url: "http://a.test/copy", status: "200 OK", media: "text/plain", body: long}, // a revisit record
		answer{url: "http://a.test/same", status: "200 OK", media: "text/plain", body: "same"},
		answer{url: "http://a.test/same", status: "304 Not Modified", notModified: true},
		answer{url: "http://a.test/gone", status: "200 OK", media: "text/plain", body: "was there"},
		answer{url: "http://a.test/gone", status: "404 Not Found", media: "text/plain", body: "is not"},
		answer{url: "http://a.test/never", status: "404 Not Found", media: "text/plain", body: "is not"},
	)}})
	for name, want := range map[string]string{"twice": "new", "long": long, "copy": long, "same": "same",
		"gone": "was there"} {
		if got := content(t, dir, "a.test/"+name); got != want {
			t.Errorf("%s: %.40q, want %.40q", name, got, want)
		}
	}
	if s.Files != 5 || s.Damaged != 0 {
		t.Errorf("%+v", s)
	}
}

// Links follow redirects to the file of their end; loops and what has no file lead to the network.
func TestLinksFollowRedirects(t *testing.T) {
	dir, s := written(t, mirror.Options{Seeds: []weburl.URL{parsed(t, "http://a.test/")}, Archives: []string{archived(t,
		answer{url: "http://a.test/", status: "200 OK", media: "text/html",
			body: `<a href=r#f>1</a><a href=loop>2</a><a href=no>3</a><img src=no.gif>`},
		answer{url: "http://a.test/r", status: "301 Moved", location: "/r2"},
		answer{url: "http://a.test/r2", status: "302 Found", location: "http://b.test/end?x=1"},
		answer{url: "http://b.test/end?x=1", status: "200 OK", media: "text/html", body: "end"},
		answer{url: "http://a.test/loop", status: "302 Found", location: "/loop2"},
		answer{url: "http://a.test/loop2", status: "302 Found", location: "/loop"},
	)}})
	const want = `<a href="../b.test/end@x=1.html#f">1</a><a href="http://a.test/loop">2</a><a href="http://a.test/no">3</a><img src="http://a.test/no.gif">`
	if got := content(t, dir, "a.test/index.html"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if start := content(t, dir, "index.html"); !strings.Contains(start, `url=a.test/index.html"`) || s.Missing != 1 {
		t.Errorf("start page %s, %+v", start, s)
	}
}

// Files of SVG and XHTML are copied like pages, with the style sheets that they name before their root elements.
func TestXMLIsRewritten(t *testing.T) {
	dir, s := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/d/i.svg", status: "200 OK", media: "image/svg+xml",
			body: `<?xml-stylesheet href="/s.css"?><svg><a href="/x">t</a><image href="no.png"/></svg>`},
		answer{url: "http://a.test/x", status: "200 OK", media: "application/xhtml+xml",
			body: `<?xml-stylesheet href='s.css'?><html><q cite="d/i.svg">t</q><math><mi href="no">x</mi></math></html>`},
		answer{url: "http://a.test/s.css", status: "200 OK", media: "text/css", body: "a{}"},
	)}})
	for name, want := range map[string]string{
		"d/i.svg": `<?xml-stylesheet href="../s.css"?><svg><a href="../x.xhtml">t</a><image href="http://a.test/d/no.png"/></svg>`,
		"x.xhtml": `<?xml-stylesheet href='s.css'?><html><q cite="d/i.svg">t</q>` +
			`<math><mi href="http://a.test/no">x</mi></math></html>`,
	} {
		if got := content(t, dir, "a.test/"+name); got != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
	if s.Missing != 1 || s.Pages != 1 {
		t.Errorf("%+v", s)
	}
}

// Of an archive of several crawls the URLs of one are copied.
func TestOnlyTheURLsOfTheCrawl(t *testing.T) {
	keep := func(_ context.Context, urls []weburl.URL) ([]bool, error) {
		out := make([]bool, len(urls))
		for i, u := range urls {
			out[i] = u.Path() == "/mine"
		}
		return out, nil
	}
	absent := func(yield func(weburl.URL, error) bool) {
		_ = yield(parsed(t, "http://a.test/mine"), nil) && yield(parsed(t, "http://a.test/before"), nil)
	}
	_, s := written(t, mirror.Options{Keep: keep, Pages: absent, Archives: []string{archived(t,
		answer{url: "http://a.test/mine", status: "200 OK", media: "text/html", body: "x"},
		answer{url: "http://a.test/theirs", status: "200 OK", media: "text/html", body: "x"})}})
	if s.Files != 1 || s.Absent != 1 {
		t.Errorf("%+v", s)
	}
}

// A node of a cluster that fetched nothing has an empty archive; archives that are all empty are an error, and one that
// is not there.
func TestArchivesThatAreEmpty(t *testing.T) {
	empty := t.TempDir()
	page := archived(t, answer{url: "http://a.test/x", status: "200 OK", media: "text/html", body: "x"})
	if _, s := written(t, mirror.Options{Archives: []string{empty, page}}); s.Files != 1 {
		t.Errorf("%+v", s)
	}
	for want, dirs := range map[string][]string{
		"name the directory": {empty, empty},
		"no such file":       {page, filepath.Join(empty, "typo")},
	} {
		_, err := mirror.Write(t.Context(), mirror.Options{Dir: t.TempDir(), Archives: dirs})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", dirs, err, want)
		}
	}
}

// A link in the directory leads nowhere else: what lies behind it stays as it is.
func TestNothingOutsideOfTheDirectory(t *testing.T) {
	outside, to := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(to, "a.test")); err != nil {
		t.Skip(err)
	}
	_, err := mirror.Write(t.Context(), mirror.Options{Dir: to, Canonical: func(u weburl.URL) weburl.URL { return u },
		Archives: []string{archived(t, answer{url: "http://a.test/x", status: "200 OK", media: "text/html", body: "x"})}})
	if entries, _ := os.ReadDir(outside); err == nil || len(entries) > 0 {
		t.Errorf("%v, %v", err, entries)
	}
}

// Queries are in the encoding of the page or style sheet that they are in, as the crawl fetched them.
func TestQueriesInOtherEncodings(t *testing.T) {
	page := "<a href='/s?q=\xe9#\xe9'>\xe4</a><img src='/i?n=\xe9'><style>p{background:url(/i?n=\xe9)}</style><a " +
		"href='//b.test/?\xe9'>"
	dir, _ := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/", status: "200 OK", media: "text/html; charset=iso-8859-1", body: page},
		answer{url: "http://a.test/ascii", status: "200 OK", media: "text/html; charset=iso-8859-1",
			body: "<a href='/s?q=&eacute;'>"},
		answer{url: "http://a.test/koi", status: "200 OK", media: "text/html",
			body: "<meta charset=koi8-r><a href='/s?q=\xd4'>"},
		answer{url: "http://a.test/utf8", status: "200 OK", media: "text/html; charset=utf-8", body: "<a href='/s?q=é'>"},
		answer{url: "http://a.test/c.css", status: "200 OK", media: "text/css", body: "p{background:url(/i?n=\xe9)}"},
		answer{url: "http://a.test/s?q=%E9", status: "200 OK", media: "text/html", body: "1"},
		answer{url: "http://a.test/s?q=%D4", status: "200 OK", media: "text/html", body: "2"},
		answer{url: "http://a.test/s?q=%C3%A9", status: "200 OK", media: "text/html", body: "3"},
		answer{url: "http://a.test/i?n=%E9", status: "200 OK", media: "image/png", body: "4"},
	)}})
	for name, want := range map[string]string{
		"index.html": "\uFEFF<a href='s@q=%25E9.html#%C3%A9'>ä</a><img src='i@n=%25E9.png'>" +
			"<style>p{background:url(i@n=%25E9.png)}</style><a href='http://b.test/?%E9'>",
		"ascii.html": "<a href='s@q=%25E9.html'>",
		"koi.html":   "\uFEFF<meta charset=koi8-r><a href='s@q=%25D4.html'>",
		"utf8.html":  "<a href='s@q=%C3%A9.html'>",
		"c.css":      "\uFEFFp{background:url(i@n=%25E9.png)}",
	} {
		if got := content(t, dir, "a.test/"+name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Where the header does not tell the type of an answer, its body does.
func TestAnswersWithoutAType(t *testing.T) {
	const page, image = "<!doctype html><a href=/x>", "\x89PNG\x0D\x0A\x1A\x0A"
	for _, c := range []struct{ media, body, name, want string }{
		{"", page, "p.html", `<!doctype html><a href="http://a.test/x">`},
		{"*/*", page, "p.html", `<!doctype html><a href="http://a.test/x">`},
		{"unknown/unknown; charset=utf-8", page, "p.html", `<!doctype html><a href="http://a.test/x">`},
		{"html", page, "p.html", `<!doctype html><a href="http://a.test/x">`},
		{"", image, "p.png", image},
		{"", "", "p", ""},
		{"application/octet-stream", page, "p", page},
		{"text/plain", page, "p", page},
	} {
		dir, _ := written(t, mirror.Options{Archives: []string{archived(t,
			answer{url: "http://a.test/p", status: "200 OK", media: c.media, body: c.body})}})
		if got := content(t, dir, "a.test/"+c.name); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.media, c.body, got, c.want)
		}
	}
}

// A script that tells no encoding has that of its page, even if it was fetched before, and like that becomes UTF-8.
func TestScriptsHaveTheEncodingOfTheirPage(t *testing.T) {
	dir, s := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/s.js", status: "200 OK", media: "text/javascript", body: "'\xd4'"},
		answer{url: "http://a.test/", status: "200 OK", media: "text/html",
			body: "<meta charset=koi8-r><script src=s.js></script>"},
	)}})
	if got := content(t, dir, "a.test/s.js"); got != "\uFEFF'т'" || s.Pages != 1 {
		t.Errorf("%q, %+v", got, s)
	}
}

// What a page names without showing it leads to the file of the copy or to the network, and misses nothing.
func TestNothingStaysRelativeToTheServer(t *testing.T) {
	dir, s := written(t, mirror.Options{Archives: []string{archived(t,
		answer{url: "http://a.test/d/", status: "200 OK", media: "text/html",
			body: `<link rel="preload stylesheet" href="/c.css">` +
				`<link rel="prefetch" href="/x"><link rel="preload" as="fetch" href="/j"><link rel="dns-prefetch" href="//b.test">` +
				`<button formaction="/x"></button><a href="/x" ping="/p /x"></a>`},
		answer{url: "http://a.test/c.css", status: "200 OK", media: "text/css", body: ""},
		answer{url: "http://a.test/x", status: "200 OK", media: "text/html", body: ""},
	)}})
	const want = `<link rel="preload stylesheet" href="../c.css">` +
		`<link rel="prefetch" href="../x.html"><link rel="preload" as="fetch" href="http://a.test/j"><link rel="dns-prefetch" href="http://b.test/">` +
		`<button formaction="../x.html"></button><a href="../x.html" ping="http://a.test/p ../x.html"></a>`
	if got := content(t, dir, "a.test/d/index.html"); got != want || s.Missing != 0 {
		t.Errorf("%+v, got\n%s\nwant\n%s", s, got, want)
	}
}
