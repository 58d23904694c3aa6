package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>/</link>
<item><title>post</title><link>/post</link></item></channel></rss>`

const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><entry><title>e</title><link href="/entry"/></entry></feed>`

// A post that only a feed links is found; the feed is no page; with --no-sitemaps neither is asked for.
func TestPostLinkedOnlyFromAFeedIsFound(t *testing.T) {
	long(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := map[string][2]string{
			"/": {"text/html", `<title>home</title><link rel=alternate type=application/rss+xml href=/rss>` +
				`<link rel=alternate type=application/atom+xml href=/atom><p>a home page`},
			"/rss": {"application/rss+xml", rss}, "/atom": {"text/xml", atom},
			"/post": {"text/html", "<p>a post"}, "/entry": {"text/html", "<p>an entry"},
		}[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", answer[0])
		fmt.Fprint(w, answer[1])
	}))
	t.Cleanup(srv.Close)
	for flag, pages := range map[string][]string{"--sitemaps": {"/", "/post", "/entry"}, "--no-sitemaps": {"/"}} {
		dir := filepath.Join(t.TempDir(), "out")
		args := []string{"crawl", srv.URL + "/", "--allow-private", "--delay", "0s", "--quiet", "-o", dir}
		if flag == "--no-sitemaps" {
			args = append(args, flag)
		}
		if got := run(t, args...); got.exit != 0 {
			t.Fatalf("exit status %d: %s", got.exit, got.stderr)
		}
		r := readResults(t, dir)
		for _, path := range pages {
			if _, ok := r.Pages[srv.URL+path]; !ok {
				t.Errorf("%s: %s is not stored", flag, path)
			}
		}
		if len(r.Pages) != len(pages) {
			t.Errorf("%s: %d pages stored, want %d", flag, len(r.Pages), len(pages))
		}
		feed := ending{crawl.VerdictDone, "", http.StatusOK}
		if flag == "--no-sitemaps" {
			feed = ending{crawl.VerdictExcluded, crawl.ReasonNoFeeds, 0}
		}
		wantEnding(t, finalsIn(t, dir), srv.URL+"/rss", feed)
	}
}
