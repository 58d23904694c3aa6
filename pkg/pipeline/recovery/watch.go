package recovery

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Frontier is the frontier of the node, which tells what it has left to do.
type Frontier interface {
	Queuer
	// Idle reports whether nothing is under way and nothing is queued that could be leased, now or later.
	Idle() bool
	// Overdue reports whether leases are under way for longer than any fetch takes, and EndOverdue ends them.
	Overdue() bool
	EndOverdue(ctx context.Context) (int, error)
}

// Watch looks now and then whether something was lost.
type Watch struct {
	Recovery
	Frontier Frontier
	// Quiet reports whether the node's broker holds no message of the topics, their retries included.
	Quiet func(ctx context.Context, topics ...string) bool
	// Topics are all of the pipeline's.
	Topics []string
	// Buried returns the pages whose story a dead letter in the node's broker would go on with.
	Buried func(ctx context.Context) (map[crawl.JobID]map[weburl.Key]bool, error)

	visits visits
	next   time.Time     // when open URLs may be looked for again
	pause  time.Duration // until the time after that
}

// Pauses between two looks into the ledger that found nothing: on a ring, what is open may be other nodes'.
const (
	shortPause = 4 * time.Second
	longPause  = 5 * time.Minute
)

// Leases ends leases whose messages are gone.
func (w *Watch) Leases(ctx context.Context) error {
	if !w.Frontier.Overdue() || !w.Quiet(ctx, crawl.TopicFetch, crawl.TopicOutcome) {
		return nil
	}
	n, err := w.Frontier.EndOverdue(ctx)
	if n > 0 {
		w.Log.Warn("leases were lost: their messages are neither in a queue nor being handled; the URLs are leased again",
			"leases", n)
	}
	return err
}

// Tasks queues URLs of this node that are open and nowhere in its broker. open is how many URLs are open, on all nodes,
// of each job that goes on. It returns how many were queued.
//
// It looks where nothing goes on only, for the ledger does not tell what is queued.
func (w *Watch) Tasks(ctx context.Context, open map[crawl.JobID]int64) (n int, err error) {
	now := time.Now()
	switch {
	case len(open) == 0 || !w.Frontier.Idle():
		w.pause = 0
		return 0, nil
	case now.Before(w.next) && w.pause > 0:
		return 0, nil
	case !w.Quiet(ctx, w.Topics...) || !w.Frontier.Idle():
		return 0, nil
	}
	if n, err = w.Open(ctx, w.Frontier, w.ranges(), w.mine,
		func(job crawl.JobID) bool { return open[job] > 0 }); err != nil {
		return n, err
	}
	if n > 0 {
		w.Frontier.StopWaiting()
		w.Log.Warn("URLs were lost from the queues: they are open in the ledger, and in no queue and no message; they are "+
			"queued again", "urls", n)
		w.pause = 0
	}
	w.pause = min(max(2*w.pause, shortPause), longPause)
	w.next = now.Add(w.pause)
	return n, nil
}

// Pages has the node's pages of a job fetched again whose content or links were lost: of those that were expected
// before a time some links are not claimed, and no dead letter would bring them. It returns how many those are, and how
// many are buried.
func (w *Watch) Pages(ctx context.Context, job crawl.JobID, before time.Time) (lost, buried int, err error) {
	pages, err := w.Unfollowed(ctx, before)
	if err != nil || len(pages) == 0 {
		return 0, 0, err
	}
	letters, err := w.Buried(ctx)
	if err != nil {
		return 0, 0, err
	}
	var again []crawl.Task
	for _, t := range pages {
		switch {
		case t.Job != job:
		case letters[job][t.URL.Key()]:
			buried++
		default:
			again = append(again, t)
		}
	}
	if len(again) == 0 {
		return 0, buried, nil
	}
	w.Log.Warn("pages were lost after they had been fetched: nothing goes on, and their content or links have not come "+
		"to their end; they are fetched again",
		"job", job, "pages", len(again), "first", again[0].URL)
	return len(again), buried, w.FetchAgain(ctx, w.Frontier, again...)
}
