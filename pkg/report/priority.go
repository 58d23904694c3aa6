package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// priorityText says the priority by which an attempt was queued, and what made it so; empty: nothing was attempted,
// or it is that of all pages.
func (s *story) priorityText(l *crawl.LogLine) string {
	if l.Attempt == 0 || l.Kind == crawl.KindRobots {
		return ""
	}
	var why []string
	switch {
	case l.Kind == crawl.KindSitemap:
		why = append(why, "a sitemap or feed")
	case l.Referrer.IsZero() && l.Depth == 0:
		why = append(why, "a seed")
	case len(s.job.Continuous) > 0:
		why = append(why, "by its class (continuous: 3 to 4, one-time: 1 to 2)")
	}
	if l.Relevance.Known() {
		why = append(why, fmt.Sprintf("P(topic) %v of the page that links to it", l.Relevance))
	}
	if l.Finds > 0 {
		why = append(why, fmt.Sprintf("found again %d times while it waited", l.Finds))
	}
	if l.HostLinks > 0 {
		why = append(why, fmt.Sprintf("%d links from other hosts to its host", l.HostLinks))
	}
	switch {
	case l.Priority == 0 && len(why) == 0:
		return ""
	case len(why) == 0:
		why = append(why, "by the weight of a site rule")
	}
	text := fmt.Sprintf("priority %d: %s", cmp.Or(l.Priority, crawl.DefaultPriority), strings.Join(why, ", "))
	if s.job.Order == crawl.OrderBreadth {
		text += fmt.Sprintf(", on level %d", l.Depth)
	}
	return text
}
