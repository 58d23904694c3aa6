package workflow

import (
	"context"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// longAtOnce bounds how many long tasks run at once: starts, ends and deletions of executions.
const longAtOnce = 4

// sweepEvery is how often the conductor looks for executions whose retention has expired.
const sweepEvery = time.Hour

// memo is what the conductor remembers of an execution. It may be lost at any time.
type memo struct {
	job        *crawl.Job // of the epoch
	epoch      uint32
	tries      int       // of its start
	notBefore  time.Time // of the next try
	fault      string    // that the engine cannot get over, and since when
	faultSince time.Time
	drain      time.Time // since when the conductor waits for work in flight
	state      State     // that drain belongs to
	quota      quotaMemo
}

// conductor is one run of the loop.
type conductor struct {
	*Manager
	long  chan struct{} // a place for each work that takes long
	work  sync.WaitGroup
	swept time.Time

	judged time.Time // rules of alerts
	pages  map[crawl.JobID]pagesAt

	mailed map[string]time.Time // when each channel last had mail about alerts; of who delivers
}

// Run drives all executions until ctx is done. It looks at them whenever something has happened, and every two seconds.
// It goes on where the last process stood. At its end the executions stay as they are, for the next process.
func (m *Manager) Run(ctx context.Context) error {
	c := &conductor{Manager: m, long: make(chan struct{}, longAtOnce), pages: map[crawl.JobID]pagesAt{},
		mailed: map[string]time.Time{}}
	defer c.work.Wait()
	if err := c.replan(ctx); err != nil && ctx.Err() == nil {
		m.opt.Log.Error("schedules are not planned again: what was planned stays", "error", err)
	}
	if m.opt.Notify != nil {
		c.work.Go(func() { c.deliver(ctx) })
	}
	events := m.store.Subscribe(ctx)
	tick := time.NewTicker(m.opt.Poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := c.pass(ctx); err != nil && ctx.Err() == nil {
			m.opt.Log.Error("executions are not looked after: the control store fails", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-m.wake:
		case <-events:
		case <-tick.C:
		}
	}
	return nil
}

// pass looks at every execution once.
func (c *conductor) pass(ctx context.Context) error {
	all, err := c.store.Unsettled(ctx)
	if err != nil {
		return err
	}
	c.forget(all)
	if err := c.decideSlots(ctx); err != nil {
		return err
	}
	used := 0
	for i := range all {
		if all[i].used() {
			used++
		}
	}
	for i := range all {
		x := &all[i]
		if c.interrupt(x) {
			continue
		}
		free := used < c.MaxRunning()
		if taken, err := c.look(ctx, x, free); err != nil && ctx.Err() == nil {
			c.opt.Log.Error("an execution is not looked after", "execution", x.ID, "state", x.State, "error", err)
		} else if taken {
			used++
		}
	}
	if now := c.now(); now.Sub(c.judged) >= alertsEvery || now.Before(c.judged) {
		c.judged = now
		if err := c.judge(ctx); err != nil && ctx.Err() == nil {
			c.opt.Log.Error("rules of alerts are not judged", "error", err)
		}
	}
	if now := c.now(); now.Sub(c.swept) >= sweepEvery {
		c.swept = now
		return c.sweepAll(ctx)
	}
	return nil
}

// forget drops the memos of executions that are settled.
func (c *conductor) forget(all []Execution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there := make(map[crawl.JobID]bool, len(all))
	for i := range all {
		there[all[i].ID] = true
	}
	for id := range c.memo {
		if !there[id] && c.busy[id] == nil {
			delete(c.memo, id)
		}
	}
}

// interrupt reports whether work for an execution is under way. If the user wants to cancel the execution, interrupt
// stops the making of figures.
func (c *conductor) interrupt(x *Execution) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := c.busy[x.ID]
	if stop != nil && x.State == Finalizing && x.Desired == Cancel {
		stop()
	}
	return stop != nil
}

// memoOf returns the memo of an execution. Only the goroutine that works for the execution may use it.
func (c *conductor) memoOf(x *Execution) *memo {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.memo[x.ID]
	if m == nil {
		m = &memo{}
		c.memo[x.ID] = m
	}
	return m
}

// slowly runs long work for an execution in a goroutine. If longAtOnce of them run already, it does nothing, and a
// later pass tries again.
func (c *conductor) slowly(ctx context.Context, x *Execution, work func(context.Context, *Execution) error) {
	select {
	case c.long <- struct{}{}:
	default:
		return
	}
	ctx, stop := context.WithCancel(ctx)
	c.mu.Lock()
	c.busy[x.ID] = stop
	c.mu.Unlock()
	c.work.Go(func() {
		defer func() {
			stop()
			c.mu.Lock()
			delete(c.busy, x.ID)
			c.mu.Unlock()
			<-c.long
			c.nudge()
		}()
		if err := work(ctx, x); err != nil && ctx.Err() == nil {
			c.opt.Log.Error("an execution is not looked after", "execution", x.ID, "state", x.State, "error", err)
		}
	})
}

// jobOf returns the job that an execution runs, at its last revision. It is remembered by epoch.
func (c *conductor) jobOf(ctx context.Context, x *Execution) (*crawl.Job, error) {
	m := c.memoOf(x)
	if m.job != nil && m.epoch == x.Epoch {
		return m.job, nil
	}
	job, err := c.currentJob(ctx, x)
	if err == nil {
		m.job, m.epoch = job, x.Epoch
	}
	return job, err
}

// revisions is an engine that revises jobs.
type revisions interface {
	// Job is the job as it is now; nil: it is not known.
	Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error)
}

func (c *conductor) currentJob(ctx context.Context, x *Execution) (*crawl.Job, error) {
	if r, ok := c.engine.(revisions); ok {
		if job, err := r.Job(ctx, x.ID); err != nil || job != nil {
			return job, err
		}
	}
	return c.store.Job(ctx, x.ID)
}
