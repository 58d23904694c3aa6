package revisitbench

import (
	"math"
	"sort"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// Live is a synthetic web that a real crawl visits, and what the freshness that it reaches is compared with: others'
// visits of the same pages, with the same changes at the same moments.
type Live struct {
	Web      *fakeweb.Web
	From, To time.Duration // when freshness counts, since the web began; visits begin at 0
	Day      time.Duration // how long a day of the web takes
	PerDay   float64       // visits a day
	HostMost float64       // visits of a host a day; 0: no limit
}

// Reached is the freshness of a crawl by its visits, as [fakeweb.Server.Visits] has them.
func (l Live) Reached(visits []fakeweb.Visit) float64 { return l.Web.Freshness(visits, l.From, l.To) }

// Bound is the best that any plan can reach where changes come at random: see world.bound. Pages that never change need
// one visit.
func (l Live) Bound() float64 {
	w, lasting := &world{budget: l.PerDay}, 0.
	hosts := map[string]int{}
	for p := range l.Web.Lasting {
		lasting++
		if p.ChangeEvery == 0 {
			continue
		}
		h, known := hosts[p.Host]
		if !known {
			h, hosts[p.Host] = len(w.caps), len(w.caps)
			w.caps = append(w.caps, math.Inf(1))
			if l.HostMost > 0 {
				w.caps[h] = l.HostMost
			}
		}
		w.pages = append(w.pages, page{host: h, rate: l.Day.Seconds() / p.ChangeEvery.Seconds(), weight: 1})
	}
	if len(w.pages) == 0 {
		return 1
	}
	n := float64(len(w.pages))
	return (w.bound()*n + lasting - n) / lasting
}

// Uniform is what visits of all pages in turn reach.
func (l Live) Uniform() float64 {
	return l.visit(func(p *livePage, now float64) float64 { return now + p.interval })
}

// Nutch is what the rule of Nutch's AdaptiveFetchSchedule reaches: .8 of the interval after a change, 1.4 after none.
func (l Live) Nutch() float64 {
	return l.visit(func(p *livePage, now float64) float64 {
		step := 1.4
		if p.changed(now) {
			step = .8
		}
		if !math.IsInf(p.last, -1) {
			p.interval = min(max(p.interval*step, 10./1440), 120)
		}
		return now + p.interval
	})
}

// livePage is a page of a simulated crawl; times are in days.
type livePage struct {
	url                 string
	changes             []float64
	interval, due, last float64
}

// changed reports whether the page changed since its last visit.
func (p *livePage) changed(now float64) bool {
	next := sort.SearchFloat64s(p.changes, p.last)
	return next < len(p.changes) && p.changes[next] <= now
}

// visit gives each visit to the page that is due first, and asks when that is due again.
func (l Live) visit(again func(p *livePage, now float64) float64) float64 {
	var pages []*livePage
	for p := range l.Web.Lasting {
		q := &livePage{url: p.URL, last: math.Inf(-1)}
		for _, at := range l.Web.Changes(p, l.To) {
			q.changes = append(q.changes, at.Seconds()/l.Day.Seconds())
		}
		pages = append(pages, q)
	}
	for i, p := range pages {
		p.interval = float64(len(pages)) / l.PerDay
		p.due = -1 + float64(i)/float64(len(pages)) // each once, before all else
	}
	var visits []fakeweb.Visit
	for k := range int(l.PerDay * l.To.Seconds() / l.Day.Seconds()) {
		now := float64(k) / l.PerDay
		first := pages[0]
		for _, p := range pages {
			if p.due < first.due {
				first = p
			}
		}
		first.due = again(first, now)
		first.last = now
		visits = append(visits, fakeweb.Visit{URL: first.url, At: time.Duration(now * float64(l.Day))})
	}
	return l.Web.Freshness(visits, l.From, l.To)
}
