package node

import (
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Bounds of what is remembered of the hosts of a job.
const (
	answersFor   = 5 * time.Minute // a generation; two are looked at
	answersHosts = 5000            // of a generation; others are not counted
)

// recentAnswers counts what hosts answered lately: over five to ten minutes.
type recentAnswers struct {
	mu    sync.Mutex
	since time.Time // the younger generation
	now   map[string]answered
	old   map[string]answered
}

type answered struct{ all, refused int }

// HostAnswers is what a host answered lately.
type HostAnswers struct {
	Host    string
	All     int
	Refused int // 403 and 429
}

// countAnswers counts the answers of hosts.
func (e *Engine) countAnswers(lines []crawl.LogLine) {
	for i := range lines {
		l := &lines[i]
		if l.Status == 0 || l.Kind == crawl.KindRender {
			continue
		}
		if j := e.job(l.Job); j != nil {
			j.answers.add(l.URL.Hostname(), l.Status, time.Now())
		}
	}
}

func (r *recentAnswers) add(host string, status int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	a, known := r.now[host]
	if !known && len(r.now) >= answersHosts {
		return
	}
	if a.all++; status == 403 || status == 429 {
		a.refused++
	}
	r.now[host] = a
}

// turn begins a generation where the younger one is old. mu is held.
func (r *recentAnswers) turn(now time.Time) {
	if r.now != nil && now.Sub(r.since) < answersFor {
		return
	}
	if r.old = r.now; now.Sub(r.since) >= 2*answersFor {
		r.old = nil
	}
	r.now, r.since = map[string]answered{}, now
}

// refused are the hosts with that many answers at least, of which some were refusals; those with most first, at most n.
func (r *recentAnswers) refused(least, n int, now time.Time) (out []HostAnswers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	add := func(host string, a answered) {
		if a.all >= least && a.refused > 0 {
			out = append(out, HostAnswers{host, a.all, a.refused})
		}
	}
	for host, a := range r.now {
		add(host, answered{a.all + r.old[host].all, a.refused + r.old[host].refused})
	}
	for host, a := range r.old {
		if _, counted := r.now[host]; !counted {
			add(host, a)
		}
	}
	slices.SortFunc(out, func(a, b HostAnswers) int { return b.Refused - a.Refused })
	return out[:min(n, len(out))]
}

// RefusedBy are the hosts of a job that refused answers lately, of those with that many answers; at most n.
func (e *Engine) RefusedBy(id crawl.JobID, least, n int) []HostAnswers {
	if j := e.job(id); j != nil {
		return j.answers.refused(least, n, time.Now())
	}
	return nil
}
