package frontier

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// policyOf is what the pages of a host are scheduled by. mu is held.
func (a *again) policyOf(h hostID) revisit.Policy {
	p := a.policy
	p.Tau, p.Most = max(a.plan.Tau(), leastTau), a.plan.Longest()
	if host := a.hosts[h]; host != nil {
		p.Tau = host.Tau()
	}
	if l := a.learned[h]; l != nil {
		l.Use(&p)
	}
	return p
}

// cap returns what a host leaves to revisits, as far as that is known. mu is held.
func (a *again) cap(h hostID, c revisit.Calendar) *hostCap {
	hc := a.caps[h]
	if hc == nil {
		if len(a.caps) >= maxCaps {
			clear(a.caps)
		}
		p := &a.job.Politeness
		hc = &hostCap{Ration: revisit.NewRation(c.PerDay(revisit.HostPerDay(p.Delay.D(), 0, 0, revisitShare)), 1)}
		a.caps[h] = hc
	}
	return hc
}

// learnCap notes how long a host rests between two requests.
func (a *again) learnCap(h hostID, name string, gap, took time.Duration, c revisit.Calendar) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hc := a.cap(h, c)
	hc.name = name
	if !a.job.Politeness.Adapts() {
		took = 0
	}
	hc.PerDay = c.PerDay(revisit.HostPerDay(gap, 0, took, revisitShare))
	hc.Burst = burst(hc.PerDay, c)
}

// Ranges of the time to the next look at a page after a failure, and after the first visit.
const (
	failedLeast = time.Hour
	failedMost  = 24 * time.Hour      // unless it has failed for long
	failedLong  = 30 * 24 * time.Hour // in any case
	firstLeast  = .7
	firstSpread = .6
)

// due is when a page is visited next, by the calendar. mu is held.
func (a *again) due(k weburl.Key, s *revisit.State, failed bool, now time.Time) time.Time {
	p := a.policyOf(hostOf(k))
	if s.Gone {
		return time.Time{}
	}
	if failed && s.Last.IsZero() { // it was never had
		return now.Add(min(failedMost<<min(max(s.Visits, 1)-1, 5), failedLong))
	}
	due, _ := revisit.Next(*s, p, now)
	switch {
	case failed:
		wait := min(max(due.Sub(s.Last), failedLeast), failedMost)
		// One that has failed for days is tried after 1, 2, 4, 10, 28 … of them: pages of a host that is gone, or that
		// leads all of them elsewhere, would take the visits of those that can be had.
		wait = max(wait, min(2*(now.Sub(due)-failedMost), failedLong))
		return later(due, now.Add(wait))
	case s.Visits == 1 && !s.IsTold() && s.Misses == 0 && !s.Withdrawn:
		// The pages of a new crawl are not to be due all at once.
		part := firstLeast + firstSpread*float64(binary.BigEndian.Uint16(k[len(k)-2:]))/math.MaxUint16
		return now.Add(max(time.Duration(part*float64(due.Sub(now))), p.Least))
	}
	return due
}
