package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/postgres"
)

// jobWatch tells the frontier which jobs the users let run, and says when a job has ended.
//
// A job has ended when every URL that was claimed has its outcome, or its page budget is spent, and no message of it is under way.
// The broker does not count messages by job, so that is when the whole pipeline is quiet, or, while other jobs keep it busy, when the
// job's figures have stood still for longer than any message takes. Should a URL turn up after all, the job runs again: nothing
// but what status says depends on it. On a ring of nodes the pages whose links are on their way are counted instead, so that no other node's
// broker need be asked.
type jobWatch struct {
	jobs     *postgres.Jobs
	ledger   crawl.Ledger
	frontier *frontier.Frontier
	bus      interface {
		Quiet(ctx context.Context, topics ...string) error
	}
	// following tells, on a ring of nodes, which pages' links are on their way, in whatever broker; nil: the node is on its own.
	following crawl.Following
	// takeBack has the pages fetched again whose links seem to be lost.
	takeBack func()
	patience time.Duration // of the ring: see patience
	log      *slog.Logger
	looked   map[crawl.JobID]standstill
}

// standstill is since when a job's figures are what they are.
type standstill struct {
	claimed, open int64
	since         time.Time
	tries         int // times that pages were taken back while no URL came to the job
}

const (
	jobLook = 2 * time.Second
	// quietPatience is how long a look waits for a quiet pipeline.
	quietPatience = 2 * time.Second
	// stillFor is how long a finished job's figures stand still before it is over while other jobs run: the longest fetch and
	// the retries of a store that restarts take less.
	stillFor = 10 * time.Minute
	// stuckFor times the patience of the ring is how long a job's figures stand still until the pages whose links are on their way are fetched
	// again, maxTakenBack times at most: a page may be one that a stage fails of.
	stuckFor     = 3
	maxTakenBack = 2
	// newborn jobs may have seeds that are on their way.
	newborn = 10 * time.Second
)

// run looks until ctx is done.
func (w *jobWatch) run(ctx context.Context) {
	w.looked = map[crawl.JobID]standstill{}
	tick := time.NewTicker(jobLook)
	defer tick.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("the jobs' states could not be looked at; tried again", "error", err)
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
	for _, j := range jobs {
		held := j.State == postgres.JobPaused || j.State == postgres.JobStopped
		if w.frontier.Hold(j.ID, held) {
			w.log.Info("the job's state changed", "job", j.ID, "state", j.State)
		}
		if held || j.Job == nil {
			continue
		}
		if err := w.follow(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// follow notes the end of a running job, or the new life of one that had ended.
func (w *jobWatch) follow(ctx context.Context, j postgres.JobInfo) error {
	tally, err := w.ledger.Tally(ctx, j.ID)
	if err != nil {
		return err
	}
	open := tally.Claimed
	for _, n := range tally.Verdicts {
		open -= n
	}
	if w.following != nil {
		w.frontier.SetPages(j.ID, tally.Pages)
	}
	last := w.looked[j.ID]
	if last.claimed != tally.Claimed || last.open != open || last.since.IsZero() {
		if last.claimed != tally.Claimed {
			last.tries = 0
		}
		last = standstill{tally.Claimed, open, time.Now(), last.tries}
		w.looked[j.ID] = last
	}
	over := open == 0 || w.frontier.Exhausted(j.ID)
	switch {
	case j.State == postgres.JobEnded && !over:
		w.log.Info("the job goes on: it has new URLs", "job", j.ID, "open", open)
		return w.jobs.SetState(ctx, j.ID, postgres.JobRunning)
	case j.State == postgres.JobRunning && over && time.Since(j.Created) > newborn && w.idle(ctx, j.ID, last):
		w.log.Info("the job has ended", "job", j.ID, "pages", tally.Pages, "urls", tally.Claimed)
		return w.jobs.SetState(ctx, j.ID, postgres.JobEnded)
	}
	return nil
}

// followed reports whether no page's links are on their way, and none had been when s was counted: those that came since were claimed before they were
// taken off, and then more URLs are claimed now.
func (w *jobWatch) followed(ctx context.Context, job crawl.JobID, s standstill) bool {
	n, err := w.following.Waiting(ctx, job)
	if err != nil {
		return false
	}
	if n > 0 {
		if time.Since(s.since) > stuckFor*w.patience && s.tries < maxTakenBack {
			w.log.Warn("nothing goes on, and links of pages are still on their way: the pages are fetched again", "job", job, "pages", n)
			s.tries++
			w.looked[job] = s
			w.takeBack()
		}
		return false
	}
	tally, err := w.ledger.Tally(ctx, job)
	return err == nil && tally.Claimed == s.claimed
}

// idle reports whether no message of a job whose figures are such can be under way.
func (w *jobWatch) idle(ctx context.Context, job crawl.JobID, s standstill) bool {
	if time.Since(s.since) > stillFor {
		return true
	}
	if w.following != nil && s.claimed > 0 { // seeds that nobody has claimed yet are in this node's broker, if anywhere
		return w.followed(ctx, job, s)
	}
	ctx, cancel := context.WithTimeout(ctx, quietPatience)
	defer cancel()
	return w.bus.Quiet(ctx, Topics()...) == nil
}
