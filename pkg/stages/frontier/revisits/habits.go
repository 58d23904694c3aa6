package revisits

import (
	"context"
	"maps"
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

// Habits are statistics of hundreds of visits, so they are stored with each count of the pages and when the book
// is closed, and not with each visit: a process that is killed forgets the visits of the last quarter of an hour.
const (
	habitsAtOnce = 1000
	habitsWait   = 10 * time.Second // for them to be stored at the end
)

// know reads what was learned of the hosts of pages, where that is not known yet.
func (j *Job) know(ctx context.Context, urls []weburl.URL) error {
	var missing []uint64
	j.mu.Lock()
	for i := range urls {
		h := hostOf(urls[i].Key())
		if j.learned[h] == nil && !slices.Contains(missing, uint64(h)) {
			missing = append(missing, uint64(h))
		}
	}
	j.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	stored, err := j.book.cfg.Store.Habits(ctx, j.id, missing...)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.learned) >= maxCaps {
		j.forget()
	}
	for i, h := range missing {
		if j.learned[hostID(h)] == nil {
			j.learned[hostID(h)] = &habits{Habits: stored[i]}
		}
	}
	return nil
}

// forget drops the habits that are stored. mu is held.
func (j *Job) forget() {
	for h, l := range j.learned {
		if !l.dirty {
			delete(j.learned, h)
		}
	}
}

// learn takes in what a visit told of its host. mu is held.
func (j *Job) learn(k weburl.Key, before, after *revisit.State, date crawl.DateMove) {
	l := j.learned[hostOf(k)]
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
func (j *Job) datesOf(k weburl.Key, modified, at time.Time) time.Time {
	if l := j.learned[hostOf(k)]; l == nil || !l.Dates() || !revisit.TellsAge(modified, at) {
		return time.Time{}
	}
	return modified
}

// recall is the part of a host's changes that lists tell of. mu is not held.
func (j *Job) recall(host uint64) float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l := j.learned[hostID(host)]; l != nil {
		return l.Signals.Recall()
	}
	return 0
}

// saveHabits stores what was learned since it was called last. all forgets it besides: other nodes may go on with it.
func (j *Job) saveHabits(ctx context.Context, all bool) error {
	j.mu.Lock()
	var changed []crawl.HostHabits
	for h, l := range j.learned {
		if l.dirty {
			changed = append(changed, crawl.HostHabits{Host: uint64(h), Habits: l.Habits})
			l.dirty = false
		}
	}
	if all {
		clear(j.learned)
	}
	j.mu.Unlock()
	for part := range slices.Chunk(changed, habitsAtOnce) {
		if err := crawl.UnlessDiscarded(j.book.cfg.Store.PutHabits(ctx, j.id, part...)); err != nil {
			return err
		}
	}
	return nil
}

// saveAllHabits stores what was learned of the hosts of all jobs.
func (b *Book) saveAllHabits(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), habitsWait)
	defer cancel()
	b.mu.Lock()
	jobs := slices.Collect(maps.Values(b.jobs))
	b.mu.Unlock()
	for _, j := range jobs {
		if err := j.saveHabits(ctx, false); err != nil {
			b.cfg.Log.Warn("what was learned of hosts since the last count is lost", "job", j.id, "error", err)
		}
	}
}
