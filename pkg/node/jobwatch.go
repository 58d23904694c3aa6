package node

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline/recovery"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// jobWatch tells the frontier which jobs the users let run, and says when a job has ended.
//
// A job has ended when every URL that was claimed has its outcome, or its page budget is spent, and the content and the
// links of every page that was fetched have come to their end (crawl.Following): see jobend.go. Should a URL turn up
// after all, the job runs again.
//
// It also looks whether something was lost from the queues, and has that brought back.
type jobWatch struct {
	store    *postgres.Store
	jobs     *postgres.Jobs
	ledger   crawl.Ledger
	frontier *frontier.Frontier
	bus      bus.Bus
	rules    crawl.RobotsStore
	// following tells which pages' content or links have not come to their end, in whatever broker.
	following crawl.Following
	lost      *recovery.Watch
	ring      bool // the node is one of several
	// takeBack has all nodes' pages fetched again whose links seem to be lost.
	takeBack func()
	patience time.Duration // of the ring: see patience
	// concluded reports whether no revision of a job lets in more than it has had. It asks still whether that is so yet,
	// when nothing else can let in more URLs.
	concluded func(ctx context.Context, job crawl.JobID, still func(context.Context) (bool, error)) (bool, error)
	log       *slog.Logger
	looked    map[crawl.JobID]standstill
}

// standstill is since when a job's figures are what they are.
type standstill struct {
	claimed, open int64
	since         time.Time
	tries         int       // times that pages were taken back while no URL came to the job
	next          time.Time // when pages may be looked for again
}

const (
	jobLook = 2 * time.Second
	// quietPatience is how long a look waits for a quiet pipeline.
	quietPatience = 2 * time.Second
	// newborn jobs may have seeds that are on their way.
	newborn = 10 * time.Second
)

// run looks until ctx is done.
func (w *jobWatch) run(ctx context.Context) {
	w.looked = map[crawl.JobID]standstill{}
	tick := time.NewTicker(jobLook)
	defer tick.Stop()
	for noted := (time.Time{}); ; {
		if w.ring && time.Since(noted) > time.Minute {
			w.noteRing(ctx)
			noted = time.Now()
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("cannot read the jobs' states; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *jobWatch) look(ctx context.Context) error {
	jobs, err := w.jobs.List(ctx)
	if err != nil {
		return err
	}
	goOn, again := map[crawl.JobID]int64{}, map[crawl.JobID]bool{}
	for _, j := range jobs {
		if !j.Deleted.IsZero() {
			w.frontier.Hold(j.ID, false)
			delete(w.looked, j.ID)
			continue
		}
		if j.Job != nil && j.Job.Revisits() {
			again[j.ID] = true
		}
		held := j.State == crawl.JobPaused || j.State == crawl.JobStopped
		if w.frontier.Hold(j.ID, held) {
			w.log.Info("the job's state changed", "job", j.ID, "state", j.State)
		}
		if held || j.Job == nil {
			continue
		}
		if j.Job.Revisits() {
			if err := w.frontier.Meet(ctx, j.ID); err != nil { // nothing of it may be queued
				return err
			}
		}
		open, err := w.follow(ctx, j)
		if err != nil {
			return err
		}
		if open > 0 {
			goOn[j.ID] = open
		}
	}
	if err := w.lost.Leases(ctx); err != nil {
		return err
	}
	if _, err = w.lost.Tasks(ctx, goOn); err != nil || len(again) == 0 {
		return err
	}
	_, err = w.lost.LostVisits(ctx, func(job crawl.JobID) bool { return again[job] })
	return err
}

// follow notes the end of a running job, or the new life of one that had ended. It returns how many URLs are left to be
// fetched.
func (w *jobWatch) follow(ctx context.Context, j crawl.JobInfo) (left int64, err error) {
	counted := w.frontier.Counting(j.ID)
	tally, err := w.ledger.Tally(ctx, j.ID)
	if err != nil {
		return 0, err
	}
	open := tally.Claimed
	for _, n := range tally.Verdicts {
		open -= n
	}
	if w.ring {
		counted(tally.Pages)
	}
	last := w.looked[j.ID]
	if last.claimed != tally.Claimed || last.open != open || last.since.IsZero() {
		if last.claimed != tally.Claimed {
			last.tries = 0
		}
		last = standstill{claimed: tally.Claimed, open: open, since: time.Now(), tries: last.tries, next: last.next}
		w.looked[j.ID] = last
	}
	w.frontier.SetOver(j.ID, j.State == crawl.JobEnded)
	over, err := w.exhausted(ctx, j, tally.Pages)
	if err != nil {
		return 0, err
	}
	over = over || open == 0
	if left = open; over {
		left = 0
	}
	over = over && !w.endless(j)
	switch {
	case j.State == crawl.JobEnded && !over:
		w.log.Info("the job continues: it has new URLs", "job", j.ID, "open", open)
		_, err := w.jobs.Turn(ctx, j.ID, 0, crawl.JobRunning, crawl.JobEnded)
		return left, err
	case j.State == crawl.JobRunning && over && w.current(j) && time.Since(j.Created) > newborn &&
		w.finished(ctx, j, last):
		if done, err := w.concluded(ctx, j.ID, w.unchanged(j.ID, tally)); err != nil || !done {
			return left, err
		}
		return 0, w.end(ctx, j, tally)
	}
	return left, nil
}

// end notes the end of a job, unless somebody revised it, or gave it another state, meanwhile.
func (w *jobWatch) end(ctx context.Context, j crawl.JobInfo, tally crawl.Tally) error {
	ended, err := w.jobs.Turn(ctx, j.ID, j.Job.Epoch, crawl.JobEnded, crawl.JobRunning)
	if ended {
		w.log.Info("the job has ended", "job", j.ID, "pages", tally.Pages, "urls", tally.Claimed)
	}
	return err
}

// current reports whether the frontier goes by the revision of a job that applies: by an older one its budget may be
// spent.
func (w *jobWatch) current(j crawl.JobInfo) bool {
	epoch := w.frontier.Epoch(j.ID)
	return epoch == 0 || epoch == crawl.EpochOf(j.Job.Epoch)
}

// endless reports whether a job goes on until it is stopped: it is continuous, and no bound of its time or bytes is
// met. One whose pages are all there visits them again.
func (w *jobWatch) endless(j crawl.JobInfo) bool {
	bound := w.frontier.Bound(j.ID)
	return j.Job.Revisits() && (bound == "" || bound == "max_pages")
}

// exhausted reports whether a bound of the job lets nothing more be fetched, and nothing is under way here. A node that
// never had to do with the job, or whose frontier has just begun, goes by what all nodes counted; of pages only where
// the job has ended, as assets of theirs may be left.
func (w *jobWatch) exhausted(ctx context.Context, j crawl.JobInfo, pages int64) (bool, error) {
	known := w.frontier.Knows(j.ID)
	if !known && j.State == crawl.JobEnded && j.Job.MaxPages > 0 && pages >= int64(j.Job.MaxPages) {
		return true, nil
	}
	if known || !j.Job.Bounds.Counted() {
		return w.frontier.Exhausted(j.ID), nil
	}
	spent, err := w.store.Spending().Spent(ctx, j.ID)
	return err == nil && j.Job.Bounds.Met(spent) != "", err
}

// unchanged asks whether a job's figures are still what they were: what a sweep let in meanwhile is to be fetched
// first.
func (w *jobWatch) unchanged(id crawl.JobID, was crawl.Tally) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		now, err := w.ledger.Tally(ctx, id)
		return err == nil && now.Claimed == was.Claimed && maps.Equal(now.Verdicts, was.Verdicts), err
	}
}
