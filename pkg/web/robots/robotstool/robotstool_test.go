package robotstool

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

const file = `User-agent: *
Disallow: /

User-agent: whirlpool
Crawl-delay: 1.5
Disallow: /private/ # not yours
Allow: /private/*.html$

Sitemap: https://h.example/s.xml?a&b
`

func TestRunTool(t *testing.T) {
	for _, tt := range []struct{ name, file, agent, url, want string }{
		{"path denied", file, "whirlpool", "/private/x",
			`{"url":"/private/x","agent":"whirlpool","allowed":false,"rule":"Disallow: /private/","line":6,"crawl_delay":1.5,"sitemaps":["https://h.example/s.xml?a&b"]}`},
		{"URL allowed by a rule", file, "Mozilla/5.0 (compatible; Whirlpool/1.0)", "http://h.example/private/a.html#top",
			`{"url":"http://h.example/private/a.html#top","agent":"Whirlpool","allowed":true,"rule":"Allow: /private/*.html$","line":7,"crawl_delay":1.5,"sitemaps":["https://h.example/s.xml?a&b"]}`},
		{"nothing said", "", "a", "/",
			`{"url":"/","agent":"a","allowed":true,"rule":"","line":0,"crawl_delay":null,"sitemaps":[]}`},
		{"no path", file, "MyBot2/1.0", "",
			`{"url":"","agent":"MyBot2","allowed":false,"rule":"Disallow: /","line":2,"crawl_delay":null,"sitemaps":["https://h.example/s.xml?a&b"]}`},
		{"root of a host", file, "other", "https://h.example",
			`{"url":"https://h.example","agent":"other","allowed":false,"rule":"Disallow: /","line":2,"crawl_delay":null,"sitemaps":["https://h.example/s.xml?a&b"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			allowed, err := RunTool("robots.txt", strings.NewReader(tt.file), tt.agent, tt.url, &out)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(out.String(), "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if allowed != strings.Contains(tt.want, `"allowed":true`) {
				t.Errorf("returned %v", allowed)
			}
		})
	}
}

func TestRunToolNamesWhatFailed(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := RunTool("x/robots.txt", iotest.ErrReader(broken), "a", "/", &bytes.Buffer{}); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "x/robots.txt") {
		t.Errorf("read: %v", err)
	}
	for _, url := range []string{"mailto:a@b", "a/b", "http://"} {
		if _, err := RunTool("f", strings.NewReader(file), "a", url, &bytes.Buffer{}); err == nil {
			t.Errorf("URL %q accepted", url)
		}
	}
}
