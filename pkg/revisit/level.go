package revisit

import (
	"math"
	"time"
)

// Host is a host whose politeness may bind: what its pages want, what it allows, and the threshold that follows.
type Host struct {
	Demand
	// PerDay is how many revisits a day it allows; see [HostPerDay]. +Inf for no limit.
	PerDay float64
	own    float64 // the threshold at which its pages want PerDay
	tau    float64
}

// Tau is the threshold of the host's pages, as of the last [Plan.Level].
func (h *Host) Tau() float64 { return h.tau }

// Capped reports whether the host allows less than its pages want. It goes first whenever it may be visited.
func (h *Host) Capped() bool { return h.own > 0 && h.tau == h.own }

// Plan holds the threshold of a crawl.
type Plan struct {
	// PerDay is how many revisits a day there are for all.
	PerDay float64
	// Most is the longest interval.
	Most time.Duration
	tau  float64
	days float64
}

// Tau is the threshold of pages whose host is not capped.
func (p *Plan) Tau() float64 { return p.tau }

// Longest is the longest interval after the last [Plan.Level]: Most, or more.
func (p *Plan) Longest() time.Duration {
	return max(p.Most, time.Duration(p.days*24*float64(time.Hour)))
}

// Level finds the thresholds: that of the crawl, and those of hosts that allow less than their pages would want at it.
// rest are the pages of hosts that are not in hosts. It takes about ten looks at each cell, so it is called every few
// minutes and not for each visit. The longest interval is stretched where the pages want more visits by it alone than
// there are: half of them are left to choose with.
func (p *Plan) Level(rest *Demand, hosts []*Host) {
	pages := rest.Pages()
	for _, h := range hosts {
		pages += h.Pages()
	}
	most := min(max(p.Most.Hours()/24, 2*float64(pages)/max(p.PerDay, 1e-9)), 36_500)
	p.days = most
	for _, h := range hosts {
		if h.own = 0; !math.IsInf(h.PerDay, 1) {
			h.own = h.Solve(h.PerDay, most, h.tau)
		}
	}
	p.tau = solve(func(tau float64) float64 {
		sum := rest.PerDay(tau, most)
		for _, h := range hosts {
			if h.own >= tau {
				sum += h.PerDay
			} else {
				sum += h.Demand.PerDay(tau, most)
			}
		}
		return sum
	}, p.PerDay, p.tau)
	for _, h := range hosts {
		h.tau = max(p.tau, h.own)
	}
}
