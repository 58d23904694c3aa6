package e2e_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/appweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Two crawls of one application give the same rendered pages, with the same texts and links.
func TestRenderingTwiceGivesTheSame(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	w := serveApp(t, 8)
	var first appweb.Pages
	for range 2 {
		c := crawlerOf(t, noNames(t), w.Job(0))
		c.start(t).wait(t)
		pages := appPages(t, w, c.dir)
		maps.DeleteFunc(pages, func(u string, _ appweb.Page) bool { return !strings.HasPrefix(u, "http://app/") })
		for u, p := range pages {
			if !p.Rendered {
				t.Errorf("%s was not rendered", u)
			}
		}
		if first == nil {
			first = pages
			continue
		}
		harness.Report(t, "pages", first.Differs(pages))
		if len(first) < 8 {
			t.Errorf("%d pages", len(first))
		}
	}
}
