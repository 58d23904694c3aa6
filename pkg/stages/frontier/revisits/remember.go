package revisits

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Remember makes pages due that were fetched while their job visited its URLs once, and returns how many they are. The
// ledger has an entry for each task; wanted says which of those of which nothing is remembered the job wants. Pages
// that were not visited, or are to be visited otherwise, stay as they are. What it is told twice, it remembers once.
//
// The pages become due one after the other, as many a day as the node has visits.
func (j *Job) Remember(ctx context.Context, tasks []crawl.Task, entries []crawl.Entry,
	wanted []bool) (n int, err error) {
	urls := make([]weburl.URL, len(tasks))
	for i := range tasks {
		urls[i] = tasks[i].URL
	}
	now := j.book.Now()
	err = j.book.change(ctx, j.id, urls, func(i int, s *revisit.State) bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		// What is remembered becomes due, wanted or not: a visit that is not wanted is concluded without a fetch.
		put := (wanted[i] || *s != (revisit.State{})) && j.remember(&tasks[i], &entries[i], s, now)
		if put {
			n++
		}
		return put
	})
	return n, err
}

// remember makes a page due of which nothing is remembered, or whose last visit is not, and reports whether it did. mu
// is held.
func (j *Job) remember(t *crawl.Task, e *crawl.Entry, s *revisit.State, now time.Time) bool {
	if e.State != crawl.StateDone || !s.Due.IsZero() || s.Gone || s.Visits > e.Visit {
		return false
	}
	if *s != (revisit.State{}) { // its last visit was made while the job visited its URLs once
		s.Due = j.turn(now)
		return true
	}
	fetched := e.Verdict == crawl.VerdictDone && e.Status/100 == 2
	if e.Verdict == crawl.VerdictExcluded || !fetched && !t.Seed {
		return false
	}
	j.weigh(t, s, false)
	// Later visits may have been made though nothing is remembered: what was remembered goes with a first visit that is
	// taken back, and with a page that is left out.
	s.Visits = max(e.Visit, 1)
	if !fetched {
		s.Due = j.due(t.URL.Key(), s, true, now)
		return true
	}
	s.Last, s.Rate, s.Sum, s.Due = j.calendar().At(e.At).Truncate(time.Second), revisit.Unknown(), t.Sum, j.turn(now)
	return true
}

// turn is when the next of the pages that are remembered is due. mu is held.
func (j *Job) turn(now time.Time) time.Time {
	every := time.Duration(float64(24*time.Hour) / max(j.plan.PerDay*j.share, 1))
	j.filled = later(j.filled, now).Add(every)
	return j.filled
}
