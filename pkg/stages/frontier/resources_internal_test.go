package frontier

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Resources of a host that never answered are given up before its pages are, for a while.
func TestResourcesOfASilentHost(t *testing.T) {
	now := time.Now()
	job := crawl.DefaultJob()
	for name, c := range map[string]struct {
		kind     crawl.Kind
		failures int
		answers  int64
		next     time.Time // when the host may be asked again
		gone     bool
	}{
		"twice":                  {crawl.KindResource, silentAfter - 1, 0, now.Add(time.Second), false},
		"three times":            {crawl.KindResource, silentAfter, 0, now.Add(20 * time.Second), true},
		"it has answered before": {crawl.KindResource, silentAfter, 1, now.Add(20 * time.Second), false},
		"a page":                 {crawl.KindPage, silentAfter, 0, now.Add(20 * time.Second), false},
		"its robots.txt":         {crawl.KindRobots, silentAfter, 0, now.Add(20 * time.Second), false},
		"a minute later":         {crawl.KindResource, silentAfter, 0, now.Add(-silentFor), false},
	} {
		h := &host{rec: crawl.Host{Failures: c.failures, Next: c.next}, answers: c.answers}
		d := h.dismissal(&crawl.Task{Kind: c.kind}, &job, now)
		if (d != nil) != c.gone || d != nil && (d.reason != crawl.ReasonHostDown || d.verdict != crawl.VerdictFailed) {
			t.Errorf("%s: dismissal %+v, want one: %v", name, d, c.gone)
		}
	}
}
