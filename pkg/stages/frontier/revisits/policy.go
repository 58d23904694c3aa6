package revisits

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// policyOf is what the pages of a host are scheduled by. mu is held.
func (j *Job) policyOf(h hostID) revisit.Policy {
	p := j.policy
	p.Tau, p.Most = max(j.plan.Tau(), leastTau), j.plan.Longest()
	if host := j.hosts[h]; host != nil {
		p.Tau = host.Tau()
	}
	if l := j.learned[h]; l != nil {
		l.Use(&p)
	}
	return p
}

// cap returns what a host leaves to revisits, as far as that is known. mu is held.
func (j *Job) cap(h hostID) *hostCap {
	hc := j.caps[h]
	if hc == nil {
		if len(j.caps) >= maxCaps {
			clear(j.caps)
		}
		p := &j.job.Politeness
		hc = &hostCap{Ration: revisit.NewRation(j.calendar().PerDay(revisit.HostPerDay(p.Delay.D(), 0, 0, revisitShare)), 1)}
		j.caps[h] = hc
	}
	return hc
}

// LearnCap notes how long the host of a page rests between two requests, and how long requests take.
func (j *Job) LearnCap(page weburl.URL, host string, gap, took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	hc := j.cap(hostOf(page.Key()))
	hc.name = host
	if !j.job.Politeness.Adapts() {
		took = 0
	}
	hc.PerDay = j.calendar().PerDay(revisit.HostPerDay(gap, 0, took, revisitShare))
	hc.Burst = burst(hc.PerDay, j.calendar())
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
func (j *Job) due(k weburl.Key, s *revisit.State, failed bool, now time.Time) time.Time {
	p := j.policyOf(hostOf(k))
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
