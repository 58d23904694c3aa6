package revisitbench

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Basic is the web of most scenarios: 200 hosts, a page changes once in thirty days at the median, and a tenth of the
// pages can be visited a day.
func Basic(name string, pages, days int) Config {
	return Config{Name: name, Pages: pages, Days: days, Seed: 1, Hosts: 200, Visits: .1, Median: 1. / 30}
}

// Capped is Basic with hosts that take a fiftieth of the visits each: the larger sixteen or so are at their cap.
func Capped(name string, pages, days int) Config {
	c := Basic(name, pages, days)
	c.Cap = .02
	return c
}

// Policies that can be simulated.
const (
	Uniform    = "uniform"
	Nutch      = "Nutch's interval"
	True       = "threshold, true rates"
	Naive      = "naive rate with a prior"
	AtMean     = "posterior, value at its mean"
	AtMeanFade = "… with forgetting"
	Thompson   = "… a rate drawn from it"
	Expected   = "posterior, expected value"
	Whirlpool  = "whirlpool: … with forgetting"
	ByHost     = "… prior of the host"
	Told       = "… with signals"
	Cycled     = "… with the host's hours"
	// Schedules that were tried, of Whirlpool's beliefs and of AtMeanFade's.
	InOrder       = "whirlpool, capped hosts in order"
	Idle          = "whirlpool, … never ahead of time"
	AtMeanInOrder = "value at the mean, in order"
	AtMeanIdle    = "value at the mean, never ahead"
	TrueInOrder   = "true rates, in order"
	TrueIdle      = "true rates, never ahead"
)

// Run simulates a crawl of a web by a policy.
func Run(cfg Config, name string) (Result, error) {
	w := newWorld(cfg)
	p, err := w.policy(name)
	if err != nil {
		return Result{}, err
	}
	c := newCrawl(w, p)
	switch name {
	case InOrder, AtMeanInOrder, TrueInOrder:
		c.turnFirst = false
	case Idle, AtMeanIdle, TrueIdle:
		c.turnFirst, c.idle = false, true
	}
	c.run()
	return Result{Policy: name, Fresh: c.sum / c.of, Bound: w.bound(), PerDay: float64(c.visits) / float64(cfg.Days),
		Most: c.most}, nil
}

func (w *world) policy(name string) (policy, error) {
	truth := func(p page) revisit.Rate { return certain(p.rate) }
	stay := func(l *learner, v visit) revisit.Rate { return l.r[v.page] }
	switch name {
	case Uniform:
		return even{1 / w.Visits}, nil
	case Nutch:
		return newNutch(w), nil
	case True, TrueInOrder, TrueIdle:
		return newLearner(w, truth, stay, itself), nil
	case Naive:
		return newLearner(w, unknown, naive, mean), nil
	case AtMean:
		return newLearner(w, unknown, bayes, mean), nil
	case AtMeanFade, AtMeanInOrder, AtMeanIdle:
		return newLearner(w, unknown, fading, mean), nil
	case Thompson:
		return newLearner(w, unknown, fading, thompson), nil
	case Expected:
		return newLearner(w, unknown, bayes, itself), nil
	case Whirlpool, InOrder, Idle:
		return newOurs(w, false, false, false), nil
	case ByHost:
		return newOurs(w, true, false, false), nil
	case Told:
		return newOurs(w, false, true, false), nil
	case Cycled:
		return newOurs(w, false, false, true), nil
	}
	return nil, fmt.Errorf("no policy %q", name)
}
