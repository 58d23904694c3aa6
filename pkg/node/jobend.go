package node

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// When the last URL of a job has its outcome, its page may still be on its way: to be parsed, to be stored, or its
// links to their claims. What is on its way is in the broker of some node; what is nowhere was lost, and is fetched
// again. So a job has ended when every page has come to its end, and never before.

const (
	// stillFor is how long a job's figures stand still before a page in a dead letter holds up its end no longer, on a
	// ring: the longest fetch and the retries of a store that restarts take less.
	stillFor = 10 * time.Minute
	// stuckFor times the patience of the ring is how long a job's figures stand still until the pages whose links are
	// on their way are fetched again, at first: a page may be one that a stage fails of, and then the pauses grow.
	stuckFor = 3
	// onTheWay is what a message takes at most, while other jobs keep the pipeline busy.
	onTheWay = 2 * time.Minute
	// renderedFor is what a page may take at most that is rendered: it waits for a browser, and for what its scripts ask
	// for.
	renderedFor = 30 * time.Minute
	// firstPause and longestPause bound the pauses between two looks at pages that do not come to their end.
	firstPause, longestPause = 4 * time.Second, 10 * time.Minute
)

// finished reports whether nothing of a job is left to do, whose URLs have their outcomes and whose figures are such.
// It has fetched again what was lost.
func (w *jobWatch) finished(ctx context.Context, j crawl.JobInfo, s standstill) bool {
	if time.Now().Before(s.next) {
		return false
	}
	ended := w.alone
	if w.ring {
		ended = w.among
	}
	done, err := ended(ctx, j, &s)
	if err == nil && done {
		done, err = w.seeded(ctx, j.Job)
	}
	if err != nil {
		w.log.Warn("cannot tell whether a job has ended; trying again", "job", j.ID, "error", err)
	}
	w.looked[j.ID] = s
	if err != nil || !done {
		return false
	}
	tally, err := w.ledger.Tally(ctx, j.ID) // links that came meanwhile were claimed before they were noted
	return err == nil && tally.Claimed == s.claimed
}

// later makes the next look at the pages of a job wait, longer each time.
func (s *standstill) later(pause time.Duration) {
	s.next = time.Now().Add(min(pause<<min(s.tries, 10), longestPause))
	s.tries++
}

// alone tells of a node of its own. Where its broker is quiet, whatever is missing was lost; while other jobs keep it
// busy, what is missing for long.
func (w *jobWatch) alone(ctx context.Context, j crawl.JobInfo, s *standstill) (bool, error) {
	began := time.Now()
	if !w.lost.Quiet(ctx, Topics()...) {
		n, err := w.following.Waiting(ctx, j.ID)
		if err != nil || n == 0 {
			return err == nil, err
		}
		s.later(firstPause)
		if began = began.Add(-longestWay(j.Job, onTheWay)); s.since.After(began) {
			return false, nil
		}
	}
	lost, buried, err := w.lost.Pages(ctx, j.ID, began)
	switch {
	case err != nil:
		return false, err
	case lost > 0:
		s.later(firstPause)
		return false, nil
	case buried > 0:
		w.log.Warn("pages are in dead letters: `whirlpool replay --cluster` brings them back", "job", j.ID, "pages", buried)
	}
	return true, nil
}

// longestWay is how long a page of a job may be on its way at most.
func longestWay(job *crawl.Job, plain time.Duration) time.Duration {
	if job != nil && job.Render.Wanted() {
		return max(plain, renderedFor)
	}
	return plain
}

// among tells of a node of a ring: pages that are missing may be on their way in any node's broker, so each node waits,
// and then has its own fetched again. A node in whose dead letters such a page is may say that the job has ended
// without it.
func (w *jobWatch) among(ctx context.Context, j crawl.JobInfo, s *standstill) (bool, error) {
	if s.claimed == 0 { // unclaimed seeds are in this node's broker, if anywhere
		return w.lost.Quiet(ctx, Topics()...), nil
	}
	n, err := w.following.Waiting(ctx, j.ID)
	if err != nil || n == 0 {
		return err == nil, err
	}
	still := time.Since(s.since)
	if still > longestWay(j.Job, stuckFor*w.patience) {
		if still > stillFor && s.tries > 1 {
			if buried, err := w.buried(ctx, j.ID); buried || err != nil {
				return buried, err
			}
		}
		w.log.Warn("nothing goes on, and links of pages are still on their way: the pages are fetched again", "job", j.ID,
			"pages", n)
		s.later(stuckFor * w.patience)
		w.takeBack()
	}
	return false, nil
}

// buried reports whether a page of the job that is missing is in this node's dead letters.
func (w *jobWatch) buried(ctx context.Context, job crawl.JobID) (found bool, err error) {
	letters, err := w.lost.Buried(ctx)
	if err != nil {
		return false, err
	}
	err = w.following.Unfollowed(ctx, weburl.AllKeys(), time.Now(), func(t crawl.Task) error {
		found = found || t.Job == job && letters[job][t.URL.Key()]
		return nil
	})
	return found, err
}

// seeded reports whether the ledger knows every seed. Those that it does not know were lost on their way there: they
// are sent again.
func (w *jobWatch) seeded(ctx context.Context, job *crawl.Job) (bool, error) {
	scope, err := urlrules.Compile(job)
	if err != nil {
		return false, err
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return false, err
	}
	keys := make([]weburl.Key, len(seeds))
	for i, u := range seeds {
		keys[i] = scope.Canonical(u).Key()
	}
	entries, err := w.ledger.Lookup(ctx, job.ID, keys...)
	if err != nil {
		return false, err
	}
	lost := 0
	for i := range entries {
		if entries[i].State == crawl.StateUnknown {
			lost++
		}
	}
	if lost == 0 {
		return true, nil
	}
	w.log.Warn("seeds were lost before anybody claimed them; they are sent again", "job", job.ID, "seeds", lost)
	_, err = Seed(ctx, w.bus, w.ledger, w.rules, job)
	return false, err
}

// noteRing notes that the pages of this time are followed on a ring.
func (w *jobWatch) noteRing(ctx context.Context) {
	if err := w.store.Followed().Elsewhere(ctx); err != nil && ctx.Err() == nil {
		w.log.Debug("it could not be noted that pages are followed on a ring", "error", err)
	}
}
