package revisits

import (
	"cmp"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Bounds of what is told in figures: points of the curve, of which every second is given up when there are more, and
// hosts.
const (
	mostPoints = 480
	mostHosts  = 100
)

// figuresOf takes in what was counted. mu is held.
func (j *Job) figuresOf(c *revisit.Census, figures crawl.Freshness) {
	curve := j.figures.Curve
	curve = append(curve, crawl.FreshAt{At: figures.At, Fresh: figures.Fresh})
	if len(curve) > mostPoints {
		for i := range len(curve) / 2 {
			curve[i] = curve[2*i+1]
		}
		curve = curve[:len(curve)/2]
	}
	j.figures = crawl.FreshnessDetail{Freshness: figures, Rates: crawl.RatesOf(c), Curve: curve,
		Hosts: []crawl.CappedHost{}}
	for h, w := range c.Capped() {
		if hc := j.caps[hostID(h)]; hc != nil && hc.name != "" {
			j.figures.Hosts = append(j.figures.Hosts,
				crawl.CappedHost{Host: hc.name, Pages: w.Pages, Allows: w.Allows, Wanted: w.Wanted})
		}
	}
	slices.SortFunc(j.figures.Hosts, func(x, y crawl.CappedHost) int {
		return cmp.Or(cmp.Compare(x.Allows/x.Wanted, y.Allows/y.Wanted), cmp.Compare(x.Host, y.Host))
	})
	j.figures.Hosts = j.figures.Hosts[:min(len(j.figures.Hosts), mostHosts)]
}

// Freshness returns how fresh the pages of a job are, as they were counted last; ok is false where it is not continuous
// or they were not counted yet. Hosts that this process did not ask yet have no name, and are left out.
func (b *Book) Freshness(id crawl.JobID) (_ crawl.FreshnessDetail, ok bool) {
	b.mu.Lock()
	j := b.jobs[id]
	b.mu.Unlock()
	if j == nil {
		return crawl.FreshnessDetail{}, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.figures
	out.Curve = slices.Clone(out.Curve)
	out.LastDay, out.ChangedLastDay = j.visits.lastDay(b.Now())
	return out, !out.At.IsZero()
}
