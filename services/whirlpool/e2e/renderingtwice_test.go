package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Two crawls of one application give the same rendered pages, with the same texts and links.
func TestRenderingTwiceGivesTheSame(t *testing.T) {
	long(t)
	needChromium(t)
	w := newAppWeb(t, 8)
	var first map[string]appPage
	for range 2 {
		c := crawlerOf(t, w.names(t), w.job(0))
		c.start(t).wait(t)
		pages := appPages(t, c.dir)
		maps.DeleteFunc(pages, func(u string, _ appPage) bool { return !strings.HasPrefix(u, w.url("app", "/")) })
		if first == nil {
			first = pages
			continue
		}
		for _, u := range slices.Sorted(maps.Keys(first)) {
			if !first[u].rendered || pages[u] != first[u] {
				t.Errorf("%s: %+v, and before %+v", u, pages[u], first[u])
			}
		}
		if len(pages) != len(first) || len(first) < 8 {
			t.Errorf("%d pages, and before %d", len(pages), len(first))
		}
	}
}
