package fetcher

import (
	"net/http"
	"strings"
	"testing"
)

// A feed that a page names may be JSON; of seeds only what is a feed by its type is taken for one.
func TestMediaTypesOfFeeds(t *testing.T) {
	for media, want := range map[string]struct{ seed, source bool }{
		"application/rss+xml": {true, true}, "application/x-gzip": {true, true}, "application/feed+json": {true, true},
		"application/json": {false, true}, "text/plain": {false, true}, "image/png": {false, false},
	} {
		if seed, source := isFeed(media), acceptsSitemap(media); seed != want.seed || source != want.source {
			t.Errorf("%s: as a seed %v, as a source of links %v", media, seed, source)
		}
	}
}

// TestSeveralContentTypes has the cases of the web platform tests (fetch/content-type), and what servers write.
func TestSeveralContentTypes(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"text/html; charset=gbk", "text/html; charset=gbk"},
		{"|text/plain", "text/plain"},
		{"text/plain|", "text/plain"},
		{"text/html|text/plain", "text/plain"},
		{"text/html,text/plain", "text/plain"},
		{"text/html, text/html; charset=utf-8", "text/html; charset=utf-8"},
		{"text/plain;charset=gbk|text/html", "text/html"},
		{"text/plain;charset=gbk|text/html;charset=windows-1254", "text/html;charset=windows-1254"},
		{"text/plain;charset=gbk|text/plain", "text/plain;charset=gbk"},
		{"text/plain;charset=gbk|text/plain;charset=windows-1252", "text/plain;charset=windows-1252"},
		{`text/html;charset=gbk|text/html;x=",text/plain`, "text/html;charset=gbk"},
		{"text/html;charset=gbk|text/plain|text/html", "text/html"},
		{"text/html|*/*", "text/html"},
		{"*/*|text/html", "text/html"},
		{"text/plain|*/*;charset=gbk", "text/plain"},
		{`text/html;x="|text/plain`, `text/html;x=", text/plain`},
		{"text/html; charset=utf-8, x", "text/html; charset=utf-8"},
		{"none", "none"},
	} {
		h := http.Header{"Content-Type": strings.Split(c.values, "|")}
		if got := typeOf(h); got != c.want {
			t.Errorf("%s: %q, want %q", c.values, got, c.want)
		}
	}
}
