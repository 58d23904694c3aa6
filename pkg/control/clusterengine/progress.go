package clusterengine

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const (
	// obeyTime is after which all programs go by an order: the frontiers ask every two seconds, and a job is believed for
	// postgres.Config.JobExpiry, five seconds; the rest is for slow machines.
	obeyTime = 12 * time.Second
	// settleTime is after which nothing of a job is under way any more, although the brokers hold messages: they may be of
	// other jobs. It is more than a fetch may take by default.
	settleTime = 2 * time.Minute
	// emptyTime is how long it is believed that nothing is under way: somebody else may have let the job run for a moment.
	emptyTime = time.Minute
)

// quiet is since when a job that is to do nothing has done nothing.
type quiet struct {
	state  crawl.JobState
	since  time.Time // the state was first seen
	figure string
	moved  time.Time // figure was another
	empty  string    // figures of the job when nothing of it was under way; "": something was
	looked time.Time // then
}

// Progress implements workflow.Engine.
func (e *Engine) Progress(ctx context.Context, id crawl.JobID) (workflow.Progress, error) {
	info, known, err := e.info(ctx, id)
	if err != nil || !known {
		return workflow.Progress{}, err
	}
	tally, err := e.Postgres.URLs().Tally(ctx, id)
	if err != nil {
		return workflow.Progress{}, err
	}
	p := workflow.Progress{Known: true, Ended: info.State == crawl.JobEnded, Held: info.State == crawl.JobPaused,
		Stopped: info.State == crawl.JobStopped, Pages: tally.Pages, Queued: openOf(tally)}
	if p.Letters, p.Away, err = e.countLetters(ctx, id, glance); err != nil {
		return p, err
	}
	p.InFlight, err = e.inFlight(ctx, &info, tally)
	p.Queued = max(p.Queued-int64(p.InFlight), 0)
	return p, err
}

func openOf(t crawl.Tally) int64 {
	open := t.Claimed
	for _, n := range t.Verdicts {
		open -= n
	}
	return open
}

// inFlight is how much of a job is under way: of one that runs the pages whose links are on their way; of one that was
// told to do nothing, 0 means that nothing is.
func (e *Engine) inFlight(ctx context.Context, info *crawl.JobInfo, tally crawl.Tally) (int, error) {
	if info.State == crawl.JobRunning {
		return int(e.lately(ctx, info.ID)), nil
	}
	figures := fmt.Sprint(tally)
	if e.emptied(info, figures) {
		return 0, nil
	}
	waiting, err := e.waiting(ctx, info.ID)
	if err != nil || info.State == crawl.JobEnded {
		return int(waiting), err
	}
	obeyed, settled := e.still(info, fmt.Sprint(figures, waiting))
	switch {
	case settled:
		return 0, nil
	case !obeyed:
		return max(int(waiting), 1), nil
	}
	held, err := e.messages(ctx)
	if err != nil {
		return 0, err
	}
	if held == 0 && waiting == 0 {
		e.quiets(info, figures)
	}
	return int(max(held, waiting)), nil
}

// quiets notes that nothing of a job that is to do nothing is under way.
func (e *Engine) quiets(info *crawl.JobInfo, figures string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if q := e.quiet[info.ID]; q != nil && q.state == info.State {
		q.empty, q.looked = figures, e.now()
	}
}

// emptied reports whether nothing of a job was under way when it was looked at, and nothing has happened to it since:
// then nothing is under way now. So a job that is paused for weeks is counted each minute and not each two seconds.
func (e *Engine) emptied(info *crawl.JobInfo, figures string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.quiet[info.ID]
	return q != nil && q.state == info.State && q.empty == figures && e.now().Sub(q.looked) < emptyTime
}

// waits is how many pages of a job have links on their way, as they were counted last.
type waits struct {
	n     int64
	until time.Time // it is believed
}

const (
	countShare = 200         // times as long as a count took it is believed: to count is to look at each page of the job
	countAgain = time.Minute // after a count that failed
)

// lately is waiting of a job that runs, as of a moment ago. The conductor asks every two seconds, and the count takes
// longer the more pages the job has; nothing is decided by it, so a count that fails is no fault.
func (e *Engine) lately(ctx context.Context, id crawl.JobID) int64 {
	e.mu.Lock()
	known := e.waits[id]
	e.mu.Unlock()
	began := e.now()
	if began.Before(known.until) {
		return known.n
	}
	n, err := e.waiting(ctx, id)
	next := waits{n, e.now().Add(countShare * e.now().Sub(began))}
	if err != nil {
		next = waits{known.n, e.now().Add(countAgain)}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits[id] = next
	return next.n
}

// waiting is how many pages have links on their way.
func (e *Engine) waiting(ctx context.Context, id crawl.JobID) (int64, error) {
	if len(e.Config.ZooKeeper.Addresses) > 0 {
		return e.Postgres.Following().Waiting(ctx, id)
	}
	return e.Postgres.Followed().Waiting(ctx, id)
}

// still reports whether all programs know by now that a job is to do nothing, and whether it has done nothing for long.
// Another process begins to watch anew.
func (e *Engine) still(info *crawl.JobInfo, figure string) (obeyed, settled bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	q := e.quiet[info.ID]
	if q == nil || q.state != info.State {
		q = &quiet{state: info.State, since: now, moved: now, figure: figure}
		e.quiet[info.ID] = q
	}
	if q.figure != figure {
		q.figure, q.moved = figure, now
	}
	obeyed = now.Sub(q.since) >= obeyTime && now.Sub(q.moved) >= obeyTime/2
	return obeyed, obeyed && now.Sub(q.moved) >= settleTime
}

// messages is how many messages are between the frontiers and back, of all jobs; 1 at least where a broker does not
// answer.
func (e *Engine) messages(ctx context.Context) (n int64, err error) {
	view, err := e.View()
	if err != nil {
		return 0, err
	}
	p, err := view.Pipeline(ctx)
	if err != nil {
		return 0, err
	}
	if p.Away() != "" {
		return max(p.UnderWay(), 1), nil
	}
	return p.UnderWay(), nil
}
