package browser

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// What answers the requests of a page.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, kind, url string
		want, pictured    actionKind
	}{
		{"GET", "Document", "http://a.test/f", askServe, askServe},
		{"GET", "Script", "https://a.test/a.js", askServe, askServe},
		{"GET", "XHR", "https://a.test/api?x=favicon.ico", askServe, askServe},
		{"GET", "Fetch", "https://a.test/api", askServe, askServe},
		{"GET", "Other", "https://a.test/w.js", askServe, askServe},
		{"POST", "XHR", "https://a.test/api", refuse, refuse},
		{"PUT", "Fetch", "https://a.test/api", refuse, refuse},
		{"HEAD", "Fetch", "https://a.test/api", askServe, askServe},
		{"OPTIONS", "Fetch", "https://a.test/api", refuse, refuse},
		{"OPTIONS", "Preflight", "https://a.test/api", preflight, preflight},
		{"GET", "Image", "https://a.test/i", blank, askServe},
		{"GET", "Font", "https://a.test/f", refuse, askServe},
		{"GET", "Stylesheet", "https://a.test/s", empty, askServe},
		{"GET", "Media", "https://a.test/m", refuse, refuse},
		{"GET", "TextTrack", "https://a.test/m", refuse, refuse},
		{"GET", "Ping", "https://a.test/p", refuse, refuse},
		{"GET", "Manifest", "https://a.test/m", refuse, refuse},
		{"GET", "Prefetch", "https://a.test/p", refuse, refuse},
		{"GET", "EventSource", "https://a.test/e", refuse, refuse},
		{"GET", "CSPViolationReport", "https://a.test/c", refuse, refuse},
		{"GET", "Other", "https://a.test/favicon.ico", refuse, refuse},
		{"GET", "Script", "data:text/javascript,1", leave, leave},
		{"POST", "Image", "blob:https://a.test/1", leave, leave},
		{"GET", "Document", "about:blank", leave, leave},
		{"GET", "Document", "file:///etc/passwd", refuse, refuse},
		{"GET", "Document", "chrome://version", refuse, refuse},
		{"GET", "Document", "ftp://a.test/", refuse, refuse},
		{"GET", "Document", "view-source:http://a.test/", refuse, refuse},
		{"GET", "Script", "http://[a", refuse, refuse},
	} {
		sub := render.Sub{URL: test.url, Method: test.method, Type: test.kind}
		if got := policy(sub, false); got.kind != test.want || (got.kind == refuse) != (got.fail == blocked) {
			t.Errorf("%+v: %+v, want %d", sub, got, test.want)
		}
		if got := policy(sub, true); got.kind != test.pictured {
			t.Errorf("%+v with a picture: %+v, want %d", sub, got, test.pictured)
		}
	}
}
