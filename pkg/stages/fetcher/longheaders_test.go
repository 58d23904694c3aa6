package fetcher

import (
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Headers that are as long as limits.max_header lets them be are not in crawl.log as they are.
func TestLongHeadersAreCut(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/type":
			w.Header().Set("Content-Type", "text/"+long)
		case "/to":
			w.Header().Set("Location", "/"+long)
			w.WriteHeader(http.StatusFound)
		}
	})
	b := newBench(t, nil)
	for path, reason := range map[string]string{"/type": crawl.ReasonMediaType, "/to": crawl.ReasonRedirectTarget} {
		r := b.get(url+path, nil)
		r.want(t, crawl.VerdictRefused, reason)
		if n := len(r.Detail) + len(r.ContentType) + len(r.Location.String()); n > 2<<10 || r.Detail == "" {
			t.Errorf("%s: %d bytes of the server's are told: detail %.300q", path, n, r.Detail)
		}
	}
}
