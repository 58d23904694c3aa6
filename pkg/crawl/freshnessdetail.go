package crawl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// FreshnessDetail is how fresh a continuous job's pages are, in parts.
type FreshnessDetail struct {
	Freshness
	// Rates are the pages by how often they are believed to change, the fastest first.
	Rates []RateClass `json:"rates"`
	// Hosts are those at their caps, those first that allow the least part of what their pages want.
	Hosts []CappedHost `json:"hosts"`
	// Curve is the expected freshness over time, the oldest first, since the process began: one point a count.
	Curve []FreshAt `json:"curve"`
}

// RateClass counts pages that are believed to change about as often as one another.
type RateClass struct {
	From  float64 `json:"from_days"` // least time between two changes
	To    float64 `json:"to_days"`   // 0: no bound
	Pages int64   `json:"pages"`
	Fresh float64 `json:"fresh"` // the part of them that is expected to be what the Web says now, in [0, 1]
}

// CappedHost is a host that allows less visits than its pages want.
type CappedHost struct {
	Host   string  `json:"host"`
	Pages  int     `json:"pages"`
	Allows float64 `json:"allows_per_day"`
	Wanted float64 `json:"wanted_per_day"` // if it were not for its cap
}

// FreshAt is the expected freshness at a time.
type FreshAt struct {
	At    time.Time `json:"at"`
	Fresh float64   `json:"fresh"`
}

// RatesOf are the classes of pages that were counted.
func RatesOf(c *revisit.Census) []RateClass {
	out := make([]RateClass, len(c.Classes))
	for i, class := range c.Classes {
		out[i].From, out[i].To = revisit.ClassBounds(i)
		if out[i].Pages = class.Pages; class.Pages > 0 {
			out[i].Fresh = class.Fresh / float64(class.Pages)
		}
	}
	return out
}
