package revisit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Census counts the pages of a crawl, host by host, and finds the thresholds that follow from them. Make it with
// NewCensus, call Add for each page, the pages of a host one after the other, and then Level.
type Census struct {
	Counts
	now    time.Time
	plan   *Plan
	allows func(host uint64) float64
	rest   Demand
	near   []*Host
	ids    []uint64
	host   uint64
	of     Demand // the host's
	any    bool
	fresh  float64
	all    float64
	recall func(host uint64) float64 // nil: 0
	silent float64                   // the part of the changes that the host's signals do not tell of
	// capped are the hosts that Level found at their caps.
	capped map[uint64]HostWish
	sums   map[uint64]int // how many pages of the host have which sum
	// Repeated are, by host, the sums that many of its pages have. It is complete after Level.
	Repeated map[uint64][]uint64
}

// What many pages of a host say is nothing of their own, as "not found" with status 200: a page and so many others. Of
// a host so many different sums are counted, and so many remembered, the most frequent first.
const (
	manyOthers   = 5
	maxSums      = 1 << 16
	mostRepeated = 16
)

// Counts are what a Census counts.
type Counts struct {
	Kept, Gone, Withdrawn, UnderWay int64
	Visits, Changed                 int64 // after the first of each page
	DueNow                          int64
	Late                            time.Duration // of the page that has been due for longest
	Wanted                          float64       // visits a day at the threshold, after Level
	Classes                         [len(classEnds) + 1]Class
}

// NewCensus begins to count at a time. plan is that of the crawl, with what it found before; allows is how many
// revisits a day a host allows.
func NewCensus(now time.Time, plan *Plan, allows func(host uint64) float64) *Census {
	return &Census{now: now, plan: plan, allows: allows, sums: map[uint64]int{}, Repeated: map[uint64][]uint64{}}
}

// Expect has pages that something told of before change as seldom as they do besides what signals of their host tell.
// recall is that of a host's [Signals].
func (c *Census) Expect(recall func(host uint64) float64) { c.recall = recall }

// Add counts a page of a host.
func (c *Census) Add(host uint64, s *State) {
	if host != c.host || !c.any {
		c.endHost()
		c.host, c.any, c.silent = host, true, 1
		if c.recall != nil {
			c.silent -= c.recall(host)
		}
	}
	if s.Visits > 0 {
		c.Visits += int64(s.Visits) - 1
	}
	c.countSum(s)
	c.Changed += int64(s.Changes)
	switch {
	case s.Gone:
		c.Gone++
		return
	case s.Withdrawn:
		c.Withdrawn++
	case !s.Last.IsZero():
		c.Kept++
		c.countFresh(s)
	}
	if s.Due.IsZero() {
		c.UnderWay++
	} else if late := c.now.Sub(s.Due); late > 0 {
		c.DueNow++
		c.Late = max(c.Late, late)
	}
	if !s.Withdrawn && s.Misses == 0 {
		r := s.Rate.Or(Unknown())
		if s.Listed() {
			r.B /= c.silent
		}
		c.of.Add(r, s.weight(), 1)
	}
}

// countSum notes what a page said when it was seen last, also of one that is gone since.
func (c *Census) countSum(s *State) {
	if s.Sum == 0 || s.Kind == List {
		return
	}
	if n, known := c.sums[s.Sum]; known || len(c.sums) < maxSums {
		c.sums[s.Sum] = n + 1
	}
}

// endSums keeps the sums of the host that many pages have.
func (c *Census) endSums() {
	var many []uint64
	for sum, n := range c.sums {
		if n > manyOthers {
			many = append(many, sum)
		}
	}
	if len(many) > 0 {
		slices.SortFunc(many, func(a, b uint64) int { return cmp.Or(cmp.Compare(c.sums[b], c.sums[a]), cmp.Compare(a, b)) })
		c.Repeated[c.host] = slices.Clone(many[:min(len(many), mostRepeated)])
	}
	clear(c.sums)
}

// countFresh adds a page to the expected freshness: the probability that it did not change since it was seen.
func (c *Census) countFresh(s *State) {
	r, w := s.Rate.Or(Unknown()), s.weight()
	days := max(c.now.Sub(s.Last).Hours()/24, 0)
	fresh := math.Pow(r.B/(r.B+days), r.A)
	c.all += w
	c.fresh += w * fresh
	c.countClass(r, fresh)
}

// nearCap: a host is told apart if its pages want more than this part of its cap, at half of the threshold.
const nearCap = .5

func (c *Census) endHost() {
	c.endSums()
	if c.of.Pages() == 0 {
		return
	}
	perDay := c.allows(c.host)
	if tau := c.plan.Tau(); math.IsInf(perDay, 1) || tau > 0 &&
		c.of.PerDay(tau*nearCap, c.plan.Longest().Hours()/24) <= nearCap*perDay {
		c.rest.Merge(&c.of)
	} else {
		c.near, c.ids = append(c.near, &Host{Demand: c.of, PerDay: perDay}), append(c.ids, c.host)
	}
	c.of = Demand{}
}

// Level finds the thresholds, and returns the hosts with one of their own that allow less than their pages want.
func (c *Census) Level() map[uint64]*Host {
	c.endHost()
	c.plan.Level(&c.rest, c.near)
	most := c.plan.Longest().Hours() / 24
	c.Wanted = c.rest.PerDay(c.plan.Tau(), most)
	capped := map[uint64]*Host{}
	for i, h := range c.near {
		if h.Capped() {
			capped[c.ids[i]] = h
			c.wish(c.ids[i], h, most)
		}
		c.Wanted += h.Demand.PerDay(h.Tau(), most)
		h.Demand = Demand{} // the threshold is what is kept
	}
	return capped
}

// Fresh is the expected freshness, in [0, 1]; 1 where there is no page.
func (c *Census) Fresh() float64 {
	if c.all == 0 {
		return 1
	}
	return c.fresh / c.all
}
