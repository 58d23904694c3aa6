package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Waits of the dispatcher: after an error of a store or the bus, and at most between two looks.
const (
	errorPause = time.Second
	idlePause  = time.Second
)

// Run is the dispatcher: it draws, leases and releases retries until ctx is done. Errors of stores and bus are reported
// and tried again; nothing is lost by them.
func (f *Frontier) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer f.resolves.Wait()
	for ctx.Err() == nil {
		now := time.Now()
		busy, err := f.step(ctx, now)
		wait := f.pauseFor(now)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			f.deps.Log.Warn("the frontier waits and tries again", "error", err)
			wait = errorPause
		case busy:
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-timer.C:
		}
	}
	return nil
}

// step does one round. It reports whether it did anything.
func (f *Frontier) step(ctx context.Context, now time.Time) (bool, error) {
	leased, err := f.leaseReady(ctx, now)
	if err != nil {
		return leased, err
	}
	released, err := f.releaseLater(ctx, now)
	if err != nil {
		return leased || released, err
	}
	drew, err := f.draw(ctx, now)
	return leased || released || drew, err
}

// pauseFor is how long nothing will be due.
func (f *Frontier) pauseFor(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := idlePause
	if at, ok := f.bench.due(); ok && len(f.inflight) < f.cfg.Window {
		wait = min(wait, at.Sub(now))
	}
	if at, ok := f.laterDue(); ok {
		wait = min(wait, at.Sub(now))
	}
	if !f.pacer.ready(now) && len(f.inflight) < f.cfg.Window {
		wait = min(wait, f.pacer.until.Sub(now))
	}
	return max(wait, 0)
}

// choice is what the dispatcher decided about a ready host.
type choice struct {
	host     *host
	js       *jobState
	delivery crawl.Delivery // the task and where it came from; no receipt for a robots.txt
	fromBuf  bool           // the task is the buffer's head
	lease    bool           // lease it
	verdict  crawl.Verdict  // not VerdictNone: conclude it without a fetch
	reason   string
	detail   string
}

// leaseReady leases the tasks of the hosts whose time has come.
func (f *Frontier) leaseReady(ctx context.Context, now time.Time) (bool, error) {
	hosts := f.takeReady(now)
	if len(hosts) == 0 {
		return false, nil
	}
	choices := make([]choice, 0, len(hosts))
	for i, h := range hosts {
		c, err := f.choose(ctx, h, now)
		if err != nil {
			f.giveBack(hosts[i:], now)
			f.undo(choices, now)
			return true, err
		}
		choices = append(choices, c)
	}
	if err := f.dropRepeats(ctx, choices); err != nil {
		f.undo(choices, now)
		return true, err
	}
	if err := f.conclude(ctx, choices, now); err != nil {
		f.undo(choices, now)
		return true, err
	}
	return true, f.publish(ctx, choices, now)
}

func (f *Frontier) takeReady(now time.Time) []*host {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(f.cfg.Window-len(f.inflight), f.cfg.Batch)
	var hosts []*host
	for range n {
		h := f.bench.take(now)
		if h == nil {
			break
		}
		h.busy++
		hosts = append(hosts, h)
	}
	return hosts
}

// choose decides what a ready host does next: its robots.txt, its next task, or nothing yet.
func (f *Frontier) choose(ctx context.Context, h *host, now time.Time) (choice, error) {
	c := choice{host: h}
	if err := f.fill(ctx, h); err != nil {
		return c, err
	}
	if len(h.buf) == 0 {
		return c, nil
	}
	js, err := f.jobOf(ctx, h.buf[0].Task.Job)
	if err != nil {
		return c, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.js, c.delivery = js, h.buf[0]
	task := &c.delivery.Task
	if at := h.earliest(js.job); at.After(now) { // the head belongs to a job more patient than the last
		return c, nil
	}
	if d, parked := h.parkedFor(js.job); parked && task.Kind != crawl.KindRobots {
		c.fromBuf, c.verdict, c.reason = true, crawl.VerdictBlocked, crawl.ReasonCrawlDelay
		c.detail = fmt.Sprintf("robots.txt asks for %v between requests, more than politeness.max_crawl_delay (%v)", d,
			js.job.Politeness.MaxCrawlDelay)
		return c, nil
	}
	if h.down(js.job, now) {
		c.fromBuf, c.verdict, c.reason = true, crawl.VerdictFailed, crawl.ReasonHostDown
		c.detail = fmt.Sprintf("the host failed %d times in a row", h.rec.Failures)
		return c, nil
	}
	if task.Kind != crawl.KindRobots && !js.job.IgnoreRobots {
		if robots, ready := f.robotsFirst(h, task, now); !ready {
			if robots != nil {
				c.lease, c.delivery = true, crawl.Delivery{Task: *robots}
			}
			return c, nil
		}
	}
	if task.Kind == crawl.KindPage && js.full() {
		return c, nil
	}
	if _, underWay := f.inflight[task.ID()]; underWay {
		c.fromBuf = true // the same URL twice: settle this one
		return c, nil
	}
	c.lease, c.fromBuf = true, true
	f.reserve(&c)
	return c, nil
}

// reserve notes the lease before it is published, for its outcome may be faster than Publish returns.
func (f *Frontier) reserve(c *choice) {
	f.inflight[c.delivery.Task.ID()] = lease{host: c.host, task: c.delivery.Task}
	if c.delivery.Task.Kind == crawl.KindPage {
		c.js.leased++
	}
}

// release takes back what reserve noted.
func (f *Frontier) release(c *choice) {
	delete(f.inflight, c.delivery.Task.ID())
	if c.delivery.Task.Kind == crawl.KindPage {
		c.js.leased--
	}
}

// fill pulls the next tasks of a host whose buffer ran empty from its back queue: fewer where many hosts are active.
func (f *Frontier) fill(ctx context.Context, h *host) error {
	f.mu.Lock()
	need := len(h.buf) == 0 && h.backlog > 0
	n := min(max(f.cfg.MaxHeld/max(len(f.hosts), 1), 1), hostBuffer)
	f.mu.Unlock()
	if !need {
		return nil
	}
	ds, err := f.deps.Queues.Pull(ctx, h.queue, n)
	if err != nil {
		return fmt.Errorf("frontier: back queue of host %s: %w", h.rec.Key, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h.buf = append(h.buf[:0], ds...)
	f.held += len(ds)
	if h.backlog -= int64(len(ds)); len(ds) == 0 || h.backlog < 0 {
		h.backlog = 0
	}
	return nil
}

// dropRepeats asks the ledger about tasks that may have been queued twice, and settles those that have their outcome.
func (f *Frontier) dropRepeats(ctx context.Context, choices []choice) error {
	for i := range choices {
		c := &choices[i]
		if !c.lease || !c.fromBuf || !c.delivery.Task.Repeat {
			continue
		}
		task := &c.delivery.Task
		entries, err := f.deps.Ledger.Lookup(ctx, task.Job, task.URL.Key())
		if err != nil {
			return fmt.Errorf("frontier: look up %s: %w", task.URL, err)
		}
		if entries[0].State == crawl.StateDone {
			f.mu.Lock()
			f.release(c)
			f.mu.Unlock()
			c.lease = false
		}
	}
	return nil
}

// conclude ends the story of tasks that will not be fetched.
func (f *Frontier) conclude(ctx context.Context, choices []choice, now time.Time) error {
	for i := range choices {
		c := &choices[i]
		if c.verdict == crawl.VerdictNone {
			continue
		}
		t := &c.delivery.Task
		out := crawl.Outcome{Task: *t, Verdict: c.verdict, Reason: c.reason, Detail: c.detail, Started: now}
		if err := f.record(ctx, &out, now); err != nil {
			return err
		}
	}
	return nil
}

// publish leases what was chosen, settles the tasks in the queues they came from, and lets their hosts wait again.
func (f *Frontier) publish(ctx context.Context, choices []choice, now time.Time) error {
	msgs := make([]bus.Message, 0, len(choices))
	settled := make([]crawl.Delivery, 0, len(choices))
	for i := range choices {
		c := &choices[i]
		if c.lease {
			e := &crawl.Fetch{Task: c.delivery.Task, Addr: c.host.rec.Addr}
			msgs = append(msgs, bus.Message{ID: e.Task.ID(), Event: e})
		}
		if c.fromBuf {
			settled = append(settled, c.delivery)
		}
	}
	f.advance(choices)
	if len(msgs) > 0 {
		if err := f.deps.Bus.Publish(ctx, msgs...); err != nil {
			f.restore(choices, now)
			return fmt.Errorf("frontier: lease %d tasks: %w", len(msgs), err)
		}
	}
	f.finishRound(choices, now)
	if len(settled) == 0 {
		return nil
	}
	if err := f.deps.Queues.Settle(ctx, settled...); err != nil {
		return fmt.Errorf("frontier: settle %d leased tasks: %w", len(settled), err)
	}
	return nil
}

// advance takes the chosen tasks off their hosts' buffers.
func (f *Frontier) advance(choices []choice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		if c := &choices[i]; c.fromBuf {
			c.host.buf = c.host.buf[1:]
			f.held--
			f.queued--
		}
	}
}

// finishRound frees the hosts that lease nothing, and lets those with a connection to spare wait for the next.
func (f *Frontier) finishRound(choices []choice, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		c := &choices[i]
		if !c.lease {
			c.host.busy--
			f.bench.done(c.host.unit, time.Time{})
		}
		f.rejoin(c.host, c.js, now)
	}
}

// restore undoes a round that could not be published.
func (f *Frontier) restore(choices []choice, now time.Time) {
	f.mu.Lock()
	for i := range choices {
		if c := &choices[i]; c.fromBuf && c.verdict == crawl.VerdictNone {
			c.host.buf = append([]crawl.Delivery{c.delivery}, c.host.buf...)
			f.held++
			f.queued++
		}
	}
	f.mu.Unlock()
	f.undo(choices, now)
}

// undo frees the hosts of choices that came to nothing.
func (f *Frontier) undo(choices []choice, now time.Time) {
	hosts := make([]*host, len(choices))
	f.mu.Lock()
	for i := range choices {
		c := &choices[i]
		hosts[i] = c.host
		switch {
		case c.lease && c.fromBuf:
			f.release(c)
		case c.lease:
			delete(f.inflight, c.delivery.Task.ID())
			f.robotsFailed(c.host, &c.delivery.Task)
		}
	}
	f.mu.Unlock()
	f.giveBack(hosts, now)
}

// giveBack lets hosts wait again that were taken for nothing.
func (f *Frontier) giveBack(hosts []*host, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range hosts {
		h.busy--
		f.bench.done(h.unit, time.Time{})
		f.bench.add(h, now.Add(errorPause))
	}
}
