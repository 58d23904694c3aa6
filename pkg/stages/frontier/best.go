package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The hosts of a topical job take turns by what they promise, where politeness leaves a choice: one whose next page
// promises much less than that of another, which can be asked soon, waits for it, but no longer than the job is patient
// (topic.patience). So no host starves, and none that rests or fails holds the others up.

// best is what is known of the tasks of a topical job that were drawn. Frontier.mu guards it.
type best struct {
	rank  int       // the highest of those whose hosts can be asked within the job's patience; -1: there are none
	stock int       // how many they are, but for each host no more than deep
	at    time.Time // when that was reckoned
	seen  int       // rank when it was looked at hosts last
	hosts []*host   // whose time has come, and who wait because others promise more
	due   time.Time // when the first of them has waited long enough
}

const (
	// alike is how many ranks lie between hosts that take turns by time alone: twice the odds or so.
	alike = 2
	// deep is how many tasks of a host count as its stock: more say nothing of how many hosts can be asked.
	deep = 8
	// reckonEach times the active hosts is how often it is reckoned anew what is the best: a small part of the time.
	reckonEach = 2 * time.Microsecond
)

// reckon looks for the best of what was drawn of a job, unless it was just looked for.
func (f *Frontier) reckon(js *jobState, now time.Time) {
	b := &js.best
	if pause := max(time.Duration(len(f.hosts.active))*reckonEach, time.Millisecond); now.Sub(b.at) < pause {
		return
	}
	b.at, b.rank, b.stock = now, -1, 0
	soon := now.Add(js.job.Topic.Waiting())
	for _, h := range f.hosts.active {
		l := h.hasLane(js.job.ID)
		if l == nil || len(l.buf) == 0 || h.blocked || f.hosts.held[h.rec.Key] || f.nextOf(h, js).After(soon) {
			continue
		}
		if t := &l.buf[0].Task; t.Promising() {
			b.rank = max(b.rank, t.Rank())
		}
		b.stock += min(len(l.buf), deep)
	}
}

// hasLane returns the job's lane; nil: there is none.
func (h *host) hasLane(job crawl.JobID) *lane {
	if h.job == job {
		return &h.lane
	}
	for i := range h.others {
		if h.others[i].job == job {
			return &h.others[i]
		}
	}
	return nil
}

// outdoes reports whether a host has to wait because others can be asked for pages that promise more. One at which
// another job has a page waits for none: its turn is that job's, too.
func (f *Frontier) outdoes(js *jobState, h *host, task *crawl.Task, now time.Time) bool {
	if !js.job.Topical() || js.dead || task.Kind != crawl.KindPage || task.Visit > 0 {
		return false
	}
	patience := js.job.Topic.Waiting()
	if patience <= 0 || !h.passed.IsZero() && now.Sub(h.passed) >= patience {
		return false
	}
	f.reckon(js, now)
	return task.Rank() < js.best.rank-alike && f.otherTurn(h) == nil
}

// hold lets a host whose time has come wait for better ones.
func (b *best) hold(h *host, now time.Time) {
	if h.passed.IsZero() {
		h.passed = now
	}
	if !h.outdone {
		if len(b.hosts) == 0 {
			b.seen, b.due = b.rank, later(h.passed, now).Add(bestLook)
		}
		h.outdone = true
		b.hosts = append(b.hosts, h)
	}
}

// releaseAll releases all hosts that wait.
func (b *best) releaseAll() {
	for _, h := range b.hosts {
		h.outdone = false
	}
	b.hosts = nil
}

// keepBest lets hosts wait for their turns again that have waited long enough, or that are as good as the best that are
// left.
func (dp *dispatcher) keepBest(now time.Time) {
	for _, js := range dp.jobs.byID {
		b := &js.best
		if len(b.hosts) == 0 {
			continue
		}
		dp.reckon(js, now)
		if b.rank >= b.seen && now.Before(b.due) {
			b.seen = b.rank // hosts may wait for this one
			continue
		}
		waited := b.hosts
		b.releaseAll()
		b.seen, b.due = b.rank, now.Add(js.job.Topic.Waiting())
		for _, h := range waited {
			dp.rejoin(h, js, now)
			if at := h.passed.Add(js.job.Topic.Waiting()); h.outdone && at.Before(b.due) {
				b.due = at
			}
		}
		b.due = later(b.due, now.Add(bestLook))
	}
}

// bestDue is when it is to be looked again at hosts that wait for better ones; zero: none wait.
func (f *Frontier) bestDue(now time.Time) (due time.Time) {
	for _, js := range f.jobs.byID {
		if len(js.best.hosts) == 0 {
			continue
		}
		at := now.Add(bestLook)
		if js.best.due.Before(at) {
			at = js.best.due
		}
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// bestLook is how often it is looked whether hosts wait in vain, besides when something happens.
const bestLook = 100 * time.Millisecond
