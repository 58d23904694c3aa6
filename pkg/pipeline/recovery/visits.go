package recovery

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	// visitsPause is the time between two looks for visits that were lost.
	visitsPause = time.Minute
	// lostVisit is how long a visit is queued or made until it is made anew though the frontier is busy. If it is queued
	// after all, its task is dropped when its turn comes; so what is told late costs a place in a queue, and no visit.
	lostVisit = 6 * time.Hour
)

// visits are those that were queued or made when it was last looked. They are few: a frontier takes no more pages of a
// job than it has room for.
type visits struct {
	next  time.Time
	since map[weburl.Key]visit
}

type visit struct {
	job    crawl.JobID
	number uint32
	since  time.Time
}

// LostVisits makes this node's pages due, of jobs that wanted accepts, whose visits are in no queue and no message:
// where nothing goes on, all whose visits are said to be under way; else those of which that has been said for hours.
// It returns how many they are.
func (w *Watch) LostVisits(ctx context.Context, wanted func(crawl.JobID) bool) (n int, err error) {
	now := time.Now()
	if w.Visits == nil || now.Before(w.visits.next) {
		return 0, nil
	}
	w.visits.next = now.Add(visitsPause)
	all := w.Frontier.Idle() && w.Quiet(ctx, w.Topics...) && w.Frontier.Idle()
	seen := map[weburl.Key]visit{}
	n, err = w.VisitAnew(ctx, w.Frontier, w.ranges(), w.mine, func(job crawl.JobID, p crawl.Revisit) bool {
		k := p.URL.Key()
		v, before := w.visits.since[k]
		if !before || v.job != job || v.number != p.Visits {
			v = visit{job, p.Visits, now}
		}
		seen[k] = v
		return wanted(job) && (all || now.Sub(v.since) > lostVisit)
	})
	if err == nil {
		w.visits.since = seen
	}
	if n > 0 {
		w.Log.Warn("visits were lost: their pages are neither due nor in a queue or message; they are made anew", "pages", n)
	}
	return n, err
}
