package marks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(t testing.TB, s string) weburl.URL {
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var words = strings.Repeat("A sentence with words in it. ", 20)

func TestCandidates(t *testing.T) {
	for name, c := range map[string]struct {
		body        string
		text, links int
		want        bool
		mark        string // that is among those seen
	}{
		"an application's shell": {`<div id=root></div><script src=/static/js/main.abc.js></script>`, 0, 0, true,
			"empty-mount"},
		"a shell with a loading text": {
			`<div id="app"><p>Loading …</p></div><script type=module src=/assets/index-12ab34cd.js></script>`, 10, 0, true,
			"empty-mount"},
		"a custom element": {`<body><my-app></my-app><script src=x.js></script>`, 0, 0, true,
			"empty-mount"},
		"a page that asks for scripts": {`<p>` + words +
			`</p><noscript>Bitte JavaScript einschalten</noscript><script src=a.js></script>`, 500, 9, true, "noscript"},
		"an inline script that writes": {
			`<ul id=l></ul><script>fetch('/x').then(r=>r.json()).then(d=>l.innerHTML=d)</script>` + words, 500, 9, true,
			"writes"},
		"a page of text": {`<p>` + words + `</p><a href=/a>a</a>`, 500, 9, false, ""},
		"a page of text with analytics": {`<p>` + words + `</p><script src=//stats.example/a.js></script>`, 500, 9,
			false, ""},
		"a shell without scripts": {`<div id=root></div>`, 0, 0, false, ""},
		"rendered at the server": {`<div id=__next><p>` + words +
			`</p></div><script src=/_next/a.js></script><script id=__NEXT_DATA__ type=application/json>{}</script>`, 500, 9,
			false, "state"},
		"rendered at the server, streamed": {`<p>` + words +
			`</p><script src=/_next/a.js></script><script>self.__next_f.push([1,"0:{}"])</script>`, 500, 9, false, "state"},
		"rendered at the server, by Angular": {`<app-root><p>` + words +
			`</p></app-root><script src=main.js></script><script id=ng-state type=application/json>{}</script>`, 500, 9,
			false, "state"},
		"data for search engines, no more": {`<p>` + words + `</p><script type=application/ld+json>{}</script>`, 500, 9,
			false, ""},
		"hash-bang": {`<meta name=fragment content="!"><script src=backbone.js></script>`, 0, 0,
			true, "hash-bang"},
		"a script in a comment is no script": {`<!-- <script src=a.js></script> --><div id=root></div>`, 0, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := marks.Look(marks.Page{URL: mustURL(t, "http://a.example/x"), Body: []byte(c.body), Text: c.text,
				Links: c.links})
			if s.Candidate() != c.want || c.mark != "" && !slices.Contains(s.Marks, c.mark) {
				t.Errorf("candidate %v with %d points for %q; want %v, with %q", s.Candidate(), s.Score, s.Marks, c.want, c.mark)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.example/":                                           "/",
		"http://a.example/item/17":                                    "/item/*",
		"http://a.example/2024/07/some-title.html":                    "/N/N/*.html",
		"http://a.example/a/b/":                                       "/a/*/",
		"http://a.example/u/deadbeef12/posts/3?b=1&a=2":               "/u/H/posts/*?a&b",
		"http://a.example/blog/a-very-long-name-of-one-post/comments": "/blog/S/*",
		"http://a.example/1/2/3/4/5/6/7/8":                            "/N/N/N/N/N/N/…",
	} {
		if got := marks.Shape(mustURL(t, url)); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestTemplatesDifferByTheirScripts(t *testing.T) {
	look := func(url, script string) uint64 {
		return marks.Look(marks.Page{URL: mustURL(t, url),
			Body: []byte(`<div id=root></div><script src="` + script + `"></script>`)}).Template
	}
	a := look("http://a.example/p/1", "/app.1234567890ab.js?v=1")
	if b := look("http://a.example/p/2", "/app.abcdef012345.js?v=2"); a != b {
		t.Error("another build of one script makes another template")
	}
	if b := look("http://a.example/p/2", "/other.js"); a == b {
		t.Error("other scripts make no other template")
	}
}

// Whatever bytes come, they are read in linear time and without a panic.
func FuzzLook(f *testing.F) {
	f.Add([]byte(`<div id=root></div><script src=a.js></script>`), "http://a.example/x?y=1")
	f.Add([]byte(`<noscript><meta http-equiv=refresh></noscript><script>innerHTML`), "http://a.example/")
	f.Fuzz(func(t *testing.T, body []byte, url string) {
		u, err := weburl.Parse(url)
		if err != nil {
			return
		}
		if s := marks.Look(marks.Page{URL: u, Body: body}); s.Template == 0 || s.Shape == "" {
			t.Errorf("no template: %+v", s)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	body := []byte(`<html><head><script src=/a.js></script></head><body>` +
		strings.Repeat(`<div class="c"><p>Some words <a href="/x/1">of a link</a></p></div>`, 400) + `</body>`)
	u := mustURL(b, "http://a.example/a/b/c")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		marks.Look(marks.Page{URL: u, Body: body, Text: 5_000, Links: 40})
	}
}
