// Package recovery brings back work that a broker has lost: open URLs that are in no queue, leases whose messages are
// gone, and fetched pages whose content or links were not processed to their end. It serves a single node and the nodes
// of a ring alike.
//
// A program that dies loses nothing: see docs/design/architecture.md. But somebody may delete or purge a queue, and a
// broker may lose its disk. The stores know which work is not finished, so recovery need not know what was lost, or
// how. In one process there is no broker to lose; the journal of the in-process bus brings its messages back
// (membus.Bus.Recover).
package recovery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Ledger gives back what is open.
type Ledger interface {
	// Open hands the task of every open URL in the ranges that owned accepts to each, over all jobs that are crawled.
	Open(ctx context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool, each func(crawl.Task) error) error
	Reopen(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error
}

// Visits gives back the pages of continuous jobs whose visits are queued or made.
type Visits interface {
	// Taken hands each page in the ranges that is neither due nor gone to each, over all jobs that are crawled.
	Taken(ctx context.Context, in []weburl.KeyRange, each func(crawl.JobID, crawl.Revisit) error) error
}

// Queuer is the frontier that queues what is brought back.
type Queuer interface {
	Queue(ctx context.Context, tasks ...crawl.Task) error
	// KeepPlaces keeps the places of pages in the page budget that are to be taken back: their records may be stored.
	KeepPlaces(ctx context.Context, tasks ...crawl.Task) error
	// Recount counts the pages of jobs anew.
	Recount(ctx context.Context, jobs ...crawl.JobID) error
	// VisitAnew makes pages of a job due whose visits were lost, and returns how many they are.
	VisitAnew(ctx context.Context, job crawl.JobID, pages ...weburl.URL) (int, error)
	// StopWaiting lets hosts ask again for robots.txt files that others were to bring.
	StopWaiting()
}

// Recovery brings back what belongs to one node.
type Recovery struct {
	Ledger    Ledger
	Following crawl.Following
	// Visits knows the pages that are visited again; nil: there are none.
	Visits Visits
	// Mine reports whether a URL belongs to the node; nil: each does.
	Mine func(weburl.URL) bool
	// Ranges returns ranges of keys outside of which no URL belongs to the node; nil: any key may.
	Ranges func() []weburl.KeyRange
	Log    *slog.Logger
}

func (r *Recovery) mine(u weburl.URL) bool { return r.Mine == nil || r.Mine(u) }

func (r *Recovery) ranges() []weburl.KeyRange {
	if r.Ranges == nil {
		return weburl.AllKeys()
	}
	return r.Ranges()
}

// Open queues every open URL in the ranges that owned accepts, of the jobs that wanted accepts (nil: all), as a
// repeat: those that are queued already are dropped when their turn comes. It returns their number.
func (r *Recovery) Open(ctx context.Context, q Queuer, in []weburl.KeyRange, owned func(weburl.URL) bool,
	wanted func(crawl.JobID) bool) (n int, err error) {
	b := batches{q: q}
	err = r.Ledger.Open(ctx, in, owned, func(t crawl.Task) error {
		if wanted != nil && !wanted(t.Job) {
			return nil
		}
		return b.add(ctx, t)
	})
	if err == nil {
		err = b.flush(ctx)
	}
	return b.n, err
}

// VisitAnew makes the pages in the ranges due that owned accepts, and wanted (nil: all), whose visits are queued or
// made by nobody any more. It returns their number.
func (r *Recovery) VisitAnew(ctx context.Context, q Queuer, in []weburl.KeyRange, owned func(weburl.URL) bool,
	wanted func(crawl.JobID, crawl.Revisit) bool) (n int, err error) {
	if r.Visits == nil {
		return 0, nil
	}
	pages := map[crawl.JobID][]weburl.URL{}
	flush := func(job crawl.JobID) error {
		some, err := q.VisitAnew(ctx, job, pages[job]...)
		n += some
		pages[job] = pages[job][:0]
		return err
	}
	err = r.Visits.Taken(ctx, in, func(job crawl.JobID, p crawl.Revisit) error {
		if !owned(p.URL) || wanted != nil && !wanted(job, p) {
			return nil
		}
		if pages[job] = append(pages[job], p.URL); len(pages[job]) < batch {
			return nil
		}
		return flush(job)
	})
	for job := range pages {
		if err == nil {
			err = flush(job)
		}
	}
	return n, err
}

// batch is how many tasks are queued at once.
const batch = 512

// batches queues tasks by the batch.
type batches struct {
	q     Queuer
	tasks []crawl.Task
	n     int
}

func (b *batches) add(ctx context.Context, t crawl.Task) error {
	b.tasks = append(b.tasks, t)
	if len(b.tasks) < batch {
		return nil
	}
	return b.flush(ctx)
}

func (b *batches) flush(ctx context.Context) error {
	if len(b.tasks) == 0 {
		return nil
	}
	err := b.q.Queue(ctx, b.tasks...)
	if err == nil {
		b.n += len(b.tasks)
		b.tasks = b.tasks[:0]
	}
	return err
}

// Unfollowed returns the node's pages that were expected before a time, of whose links some are not claimed.
func (r *Recovery) Unfollowed(ctx context.Context, before time.Time) (pages []crawl.Task, err error) {
	err = r.Following.Unfollowed(ctx, r.ranges(), before, func(t crawl.Task) error {
		if r.mine(t.URL) {
			pages = append(pages, t)
		}
		return nil
	})
	return pages, err
}

// FetchAgain has pages fetched again. They are counted anew before the first of them can be fetched.
func (r *Recovery) FetchAgain(ctx context.Context, q Queuer, pages ...crawl.Task) error {
	var jobs []crawl.JobID
	for i := range pages {
		t := &pages[i]
		if !t.Kind.InLedger() {
			continue // in no ledger, it stays expected until the frontier has its outcome
		}
		if t.Visit > 0 {
			continue // its outcome and its record stay: its next visit is made
		}
		if err := q.KeepPlaces(ctx, *t); err != nil {
			return lostPage(t, err)
		}
		if err := r.Ledger.Reopen(ctx, t.Job, t.URL.Key()); err != nil {
			return lostPage(t, err)
		}
		if !slices.Contains(jobs, t.Job) {
			jobs = append(jobs, t.Job)
		}
	}
	if len(jobs) > 0 {
		if err := q.Recount(ctx, jobs...); err != nil {
			return err
		}
	}
	for i := range pages {
		if err := r.queue(ctx, q, &pages[i]); err != nil {
			return lostPage(&pages[i], err)
		}
	}
	q.StopWaiting()
	return nil
}

func lostPage(t *crawl.Task, err error) error {
	return fmt.Errorf("fetch %s again, whose content or links were lost: %w", t.URL, err)
}

// queue queues a page before it forgets that its links are missing, so that a crash in between repeats it.
func (r *Recovery) queue(ctx context.Context, q Queuer, t *crawl.Task) error {
	next := *t
	if next.Visit > 0 {
		next.Visit++
		next.ETag, next.LastModified, next.Restore = "", "", true // its links are to come again, changed or not
	}
	if err := q.Queue(ctx, next); err != nil || !t.Kind.InLedger() {
		return err
	}
	return r.Following.Forget(ctx, t.Job, t.URL.Key())
}
