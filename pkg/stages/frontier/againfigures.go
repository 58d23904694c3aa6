package frontier

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
func (a *again) figuresOf(c *revisit.Census, figures crawl.Freshness) {
	curve := a.figures.Curve
	curve = append(curve, crawl.FreshAt{At: figures.At, Fresh: figures.Fresh})
	if len(curve) > mostPoints {
		for i := range len(curve) / 2 {
			curve[i] = curve[2*i+1]
		}
		curve = curve[:len(curve)/2]
	}
	a.figures = crawl.FreshnessDetail{Freshness: figures, Rates: crawl.RatesOf(c), Curve: curve,
		Hosts: []crawl.CappedHost{}}
	for h, w := range c.Capped() {
		if hc := a.caps[hostID(h)]; hc != nil && hc.name != "" {
			a.figures.Hosts = append(a.figures.Hosts,
				crawl.CappedHost{Host: hc.name, Pages: w.Pages, Allows: w.Allows, Wanted: w.Wanted})
		}
	}
	slices.SortFunc(a.figures.Hosts, func(x, y crawl.CappedHost) int {
		return cmp.Or(cmp.Compare(x.Allows/x.Wanted, y.Allows/y.Wanted), cmp.Compare(x.Host, y.Host))
	})
	a.figures.Hosts = a.figures.Hosts[:min(len(a.figures.Hosts), mostHosts)]
}

// Freshness returns how fresh the pages of a job are, as they were counted last; ok is false where it is not continuous
// or they were not counted yet.
func (f *Frontier) Freshness(id crawl.JobID) (_ crawl.Freshness, ok bool) {
	d, ok := f.FreshnessDetail(id)
	return d.Freshness, ok
}

// FreshnessDetail is Freshness in parts. Hosts that this process did not ask yet have no name, and are left out.
func (f *Frontier) FreshnessDetail(id crawl.JobID) (_ crawl.FreshnessDetail, ok bool) {
	f.again.mu.Lock()
	a := f.again.jobs[id]
	f.again.mu.Unlock()
	if a == nil {
		return crawl.FreshnessDetail{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.figures
	out.Curve = slices.Clone(out.Curve)
	out.LastDay, out.ChangedLastDay = a.visits.lastDay(f.again.now())
	return out, !out.At.IsZero()
}
