package frontier

import (
	"context"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// habits are what was learned of a host, and whether that is stored.
type habits struct {
	revisit.Habits
	dirty bool
}

// Habits are statistics of hundreds of visits, so they are stored with each count of the pages and when the dispatcher
// ends, and not with each visit: a process that is killed forgets the visits of the last quarter of an hour.
const (
	habitsAtOnce = 1000
	habitsWait   = 10 * time.Second // for them to be stored at the end
)

// know reads what was learned of the hosts of pages, where that is not known yet.
func (r *revisits) know(ctx context.Context, job crawl.JobID, a *again, urls []weburl.URL) error {
	var missing []uint64
	a.mu.Lock()
	for i := range urls {
		h := hostOf(urls[i].Key())
		if a.learned[h] == nil && !slices.Contains(missing, uint64(h)) {
			missing = append(missing, uint64(h))
		}
	}
	a.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	stored, err := r.store.Habits(ctx, job, missing...)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.learned) >= maxCaps {
		a.forget()
	}
	for i, h := range missing {
		if a.learned[hostID(h)] == nil {
			a.learned[hostID(h)] = &habits{Habits: stored[i]}
		}
	}
	return nil
}

// forget drops the habits that are stored. mu is held.
func (a *again) forget() {
	for h, l := range a.learned {
		if !l.dirty {
			delete(a.learned, h)
		}
	}
}

// learn takes in what a visit told of its host. mu is held.
func (a *again) learn(k weburl.Key, before, after *revisit.State, date crawl.DateMove) {
	l := a.learned[hostOf(k)]
	if l == nil || after.Visits == before.Visits {
		return
	}
	was := l.Habits
	l.Learn(*before, *after)
	if date != crawl.DateUnknown {
		l.LearnDate(date == crawl.DateMoved, after.Changes != before.Changes)
	}
	l.dirty = l.dirty || l.Habits != was
}

// datesOf is the Last-Modified of an answer, where it can be trusted to tell when the page changed. mu is held.
func (a *again) datesOf(k weburl.Key, modified, at time.Time) time.Time {
	if l := a.learned[hostOf(k)]; l == nil || !l.Dates() || !revisit.TellsAge(modified, at) {
		return time.Time{}
	}
	return modified
}

// recall is the part of a host's changes that lists tell of. mu is not held.
func (a *again) recall(host uint64) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.learned[hostID(host)]; l != nil {
		return l.Signals.Recall()
	}
	return 0
}

// saveHabits stores what was learned since it was called last. all forgets it besides: other nodes may go on with it.
func (r *revisits) saveHabits(ctx context.Context, job crawl.JobID, a *again, all bool) error {
	a.mu.Lock()
	var changed []crawl.HostHabits
	for h, l := range a.learned {
		if l.dirty {
			changed = append(changed, crawl.HostHabits{Host: uint64(h), Habits: l.Habits})
			l.dirty = false
		}
	}
	if all {
		clear(a.learned)
	}
	a.mu.Unlock()
	for part := range slices.Chunk(changed, habitsAtOnce) {
		if err := wasDiscarded(r.store.PutHabits(ctx, job, part...)); err != nil {
			return err
		}
	}
	return nil
}

// saveAllHabits stores what was learned of the hosts of all jobs, when the dispatcher ends.
func (dp *dispatcher) saveAllHabits(ctx context.Context) {
	if dp.again.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), habitsWait)
	defer cancel()
	dp.again.mu.Lock()
	jobs := make(map[crawl.JobID]*again, len(dp.again.jobs))
	for id, a := range dp.again.jobs {
		jobs[id] = a
	}
	dp.again.mu.Unlock()
	for id, a := range jobs {
		if err := dp.again.saveHabits(ctx, id, a, false); err != nil {
			dp.deps.Log.Warn("what was learned of hosts since the last count is lost", "job", id, "error", err)
		}
	}
}
