package fetcher

import (
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestValidators(t *testing.T) {
	const then = "Sun, 06 Nov 1994 08:49:37 GMT"
	asked := crawl.Validators{ETag: `"old"`, LastModified: then}
	for name, tc := range map[string]struct {
		status             int
		etag, modified     string
		asked, want        crawl.Validators
		verdict            crawl.Verdict
		reason             string
		contentType, media string
	}{
		"a page": {200, `W/"1"`, then, crawl.Validators{},
			crawl.Validators{ETag: `W/"1"`, LastModified: then}, crawl.VerdictDone, "", "text/html", ""},
		"none": {200, "", "", asked, crawl.Validators{}, crawl.VerdictDone, "", "text/html", ""},
		"too long to keep": {200, `"` + strings.Repeat("x", crawl.MaxValidator) + `"`, then, crawl.Validators{},
			crawl.Validators{LastModified: then}, crawl.VerdictDone, "", "text/html", ""},
		"unchanged, and said again": {304, `"new"`, "", asked, crawl.Validators{ETag: `"new"`}, crawl.VerdictDone, "",
			"", ""},
		"unchanged, and left out": {304, "", "", asked, asked, crawl.VerdictDone, "", "", ""},
		"unchanged, though nobody asked": {304, `"1"`, then, crawl.Validators{}, crawl.Validators{}, crawl.VerdictGone,
			crawl.ReasonStatus, "", ""},
		"no page": {404, `"1"`, then, crawl.Validators{}, crawl.Validators{}, crawl.VerdictGone,
			crawl.ReasonStatus, "text/html", ""},
		"a redirect": {301, `"1"`, then, crawl.Validators{}, crawl.Validators{}, crawl.VerdictRefused,
			crawl.ReasonRedirectTarget, "text/html", ""},
		"a page that is not wanted": {200, `"1"`, then, crawl.Validators{}, crawl.Validators{}, crawl.VerdictRefused,
			crawl.ReasonMediaType, "image/png", ""},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range map[string]string{"Etag": tc.etag, "Last-Modified": tc.modified, "Content-Type": tc.contentType} {
					if v != "" {
						w.Header().Set(k, v)
					}
				}
				w.WriteHeader(tc.status)
			})
			r := newBench(t, nil).get(url,
				func(f *crawl.Fetch) { f.Task.ETag, f.Task.LastModified = tc.asked.ETag, tc.asked.LastModified })
			r.want(t, tc.verdict, tc.reason)
			if got := (crawl.Validators{ETag: r.ETag, LastModified: r.LastModified}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
