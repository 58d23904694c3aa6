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
// but what status says depends on it.
type jobWatch struct {
	jobs     *postgres.Jobs
	ledger   crawl.Ledger
	frontier *frontier.Frontier
	bus      interface {
		Quiet(ctx context.Context, topics ...string) error
	}
	log    *slog.Logger
	looked map[crawl.JobID]standstill
}

// standstill is since when a job's figures are what they are.
type standstill struct {
	claimed, open int64
	since         time.Time
}

const (
	jobLook = 2 * time.Second
	// quietPatience is how long a look waits for a quiet pipeline.
	quietPatience = 2 * time.Second
	// stillFor is how long a finished job's figures stand still before it is over while other jobs run: the longest fetch and
	// the retries of a store that restarts take less.
	stillFor = 10 * time.Minute
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
	last := w.looked[j.ID]
	if last.claimed != tally.Claimed || last.open != open || last.since.IsZero() {
		last = standstill{tally.Claimed, open, time.Now()}
		w.looked[j.ID] = last
	}
	over := open == 0 || w.frontier.Exhausted(j.ID)
	switch {
	case j.State == postgres.JobEnded && !over:
		w.log.Info("the job goes on: it has new URLs", "job", j.ID, "open", open)
		return w.jobs.SetState(ctx, j.ID, postgres.JobRunning)
	case j.State == postgres.JobRunning && over && time.Since(j.Created) > newborn && w.idle(ctx, last):
		w.log.Info("the job has ended", "job", j.ID, "pages", tally.Pages, "urls", tally.Claimed)
		return w.jobs.SetState(ctx, j.ID, postgres.JobEnded)
	}
	return nil
}

// idle reports whether no message of a job whose figures are such can be under way.
func (w *jobWatch) idle(ctx context.Context, s standstill) bool {
	if time.Since(s.since) > stillFor {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, quietPatience)
	defer cancel()
	return w.bus.Quiet(ctx, Topics()...) == nil
}
