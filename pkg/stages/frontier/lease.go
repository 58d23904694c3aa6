package frontier

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// choice is what the dispatcher decided about a ready host: to lease a task, to conclude or drop it, or nothing yet.
type choice struct {
	host      *host
	js        *jobState
	id        crawl.MessageID
	delivery  crawl.Delivery // the task and where it came from; no receipt for a robots.txt
	addr      netip.Addr
	fromBuf   bool // the task is the buffer's head and leaves it
	lease     bool
	aside     bool // set it aside
	place     Place
	refresh   bool             // the host's record is to be read again
	away      []crawl.Delivery // the whole buffer, which belongs to another node
	dismissal *dismissal       // conclude it without a fetch
	judged    *dismissal       // the job does not want the task any more
}

// leaseReady leases the tasks of the hosts whose time has come.
func (f *Frontier) leaseReady(ctx context.Context, now time.Time) (bool, error) {
	if err := f.out.send(ctx); err != nil { // what could not be sent before
		return false, err
	}
	hosts := f.takeReady(ctx, now)
	if len(hosts) == 0 {
		return false, nil
	}
	choices, failed := f.decideAll(ctx, hosts, now)
	err := f.refresh(ctx, choices, now)
	if err == nil {
		err = f.takeAway(ctx, choices, now)
	}
	if err == nil {
		err = f.dropRepeats(ctx, choices)
	}
	if err == nil {
		err = f.dismiss(ctx, choices, now)
	}
	if err == nil {
		err = f.setAside(ctx, choices)
	}
	if err != nil {
		f.undo(choices, now)
		return true, errors.Join(failed, err)
	}
	f.advance(choices, now)
	return true, errors.Join(failed, f.out.send(ctx))
}

func (f *Frontier) takeReady(ctx context.Context, now time.Time) []*host {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paused {
		return nil
	}
	f.unblock(now)
	f.bench.newcomers.connections = f.jobs.connections()
	resolve := func(h *host) bool { return f.resolveNext(ctx, h) }
	f.bench.recall(resolve)
	var hosts []*host
	n := min(f.cfg.Window-f.leases.len(), f.cfg.Batch)
	if _, some := f.bench.due(); some && (f.trouble.on || now.Before(f.trouble.files)) {
		n = f.trouble.probes(n, now, f.deps.Log)
	}
	for range n {
		h := f.bench.next(now, resolve)
		if h == nil {
			break
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// decideAll decides about each host. Hosts whose next task cannot be had now wait a little; the error says why.
func (f *Frontier) decideAll(ctx context.Context, hosts []*host, now time.Time) ([]choice, error) {
	choices := make([]choice, 0, len(hosts))
	var errs []error
	for _, h := range hosts {
		js, err := f.fill(ctx, h)
		if err != nil {
			errs = append(errs, err)
			f.undo([]choice{{host: h}}, now)
			continue
		}
		f.markDoubted(h)
		c := choice{host: h, js: js}
		if err := f.rejudge(ctx, &c); err != nil {
			errs = append(errs, err)
			f.undo([]choice{c}, now)
			continue
		}
		choices = append(choices, c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		if c := &choices[i]; len(c.host.buf) > 0 {
			f.decide(c, now)
		}
	}
	return choices, errors.Join(errs...)
}

// decide decides what a ready host does with its next task: mostly lease it, or the robots.txt that it needs.
func (f *Frontier) decide(c *choice, now time.Time) {
	h, job := c.host, c.js.job
	c.delivery, c.addr = h.buf[0], h.rec.Addr
	task := &c.delivery.Task
	if !f.decidePlace(c, task) {
		return
	}
	if c.fromBuf = c.js.discarded(task); c.fromBuf {
		return
	}
	if c.fromBuf = f.copyUnderWay(c, task); c.fromBuf {
		return
	}
	if c.dismissal = f.dismissalOf(c, task, job, now); c.dismissal != nil {
		c.fromBuf = true
		return
	}
	if c.js.keeps(task) {
		c.aside = f.setsAside(c.js)
		c.fromBuf = c.aside
		return
	}
	if f.hosts.earliest(h, job).After(now) { // the task belongs to a job more patient than the last
		return
	}
	c.fromBuf = true
	if !h.rulesKnown(task, job, now) {
		if robots, ok := f.robots.next(h, task, now); ok {
			c.fromBuf = false
			if robots == nil {
				return
			}
			c.delivery = crawl.Delivery{Task: *robots}
		}
	}
	c.id = c.delivery.Task.ID()
	if l := f.leases.of(c.id); l != nil && l.js != c.js { // a former life of the job has it still
		c.fromBuf = false
		return
	} else if l != nil { // the same URL twice: this one is settled
		c.fromBuf = c.fromBuf && task.Kind != crawl.KindRobots
		return
	}
	f.leases.reserve(c)
}

// copyUnderWay reports whether another copy of the task is leased: this one is settled, whatever else would become of
// it.
func (f *Frontier) copyUnderWay(c *choice, task *crawl.Task) bool {
	if !task.Repeat || task.Kind == crawl.KindRobots {
		return false
	}
	l := f.leases.of(task.ID())
	return l != nil && l.js == c.js
}

// decidePlace decides whether this node may do anything with the task. A buffer of another node's tasks goes away as a
// whole.
func (f *Frontier) decidePlace(c *choice, task *crawl.Task) bool {
	c.place = f.duties.place(task.URL)
	h := c.host
	switch {
	case c.place.Node != "":
		c.away, h.foreign = h.buf, true
		return false
	case !c.place.Lease:
		return false
	case c.place.Since.After(h.since):
		c.refresh = true
		return false
	}
	h.factor, h.foreign = c.place.Factor, false
	return true
}

// takeAway sends away the buffers that belong to other nodes.
func (f *Frontier) takeAway(ctx context.Context, choices []choice, now time.Time) error {
	for i := range choices {
		if c := &choices[i]; len(c.away) > 0 {
			if err := f.sendAway(ctx, c.away, now); err != nil {
				c.away = nil
				return err
			}
			f.mu.Lock()
			f.stock.held -= len(c.away)
			c.host.buf = nil
			f.mu.Unlock()
		}
	}
	return nil
}

// dropRepeats asks the ledger about tasks that may have been queued twice, and drops those that have their outcome.
func (f *Frontier) dropRepeats(ctx context.Context, choices []choice) error {
	keys := map[crawl.JobID][]weburl.Key{}
	asked := map[crawl.JobID][]*choice{}
	for i := range choices {
		if c := &choices[i]; c.lease && c.fromBuf && c.delivery.Task.Repeat {
			job := c.delivery.Task.Job
			keys[job] = append(keys[job], c.delivery.Task.URL.Key())
			asked[job] = append(asked[job], c)
		}
	}
	for job, cs := range asked {
		entries, err := f.deps.Ledger.Lookup(ctx, job, keys[job]...)
		if err != nil {
			return fmt.Errorf("frontier: look up %d URLs, the first %s: %w", len(cs), cs[0].delivery.Task.URL, err)
		}
		f.mu.Lock()
		for i, c := range cs {
			if entries[i].State == crawl.StateDone {
				f.leases.release(c)
			}
		}
		f.mu.Unlock()
	}
	return nil
}

// dismiss ends the story of tasks that will not be fetched.
func (f *Frontier) dismiss(ctx context.Context, choices []choice, now time.Time) error {
	var outs []*crawl.Outcome
	var first []bool
	for i := range choices {
		c := &choices[i]
		if d := c.dismissal; d != nil {
			outs = append(outs, &crawl.Outcome{Task: c.delivery.Task, Verdict: d.verdict, Reason: d.reason, Detail: d.detail,
				Started: now})
			first = append(first, true)
		}
	}
	if len(outs) == 0 {
		return nil
	}
	if err := f.record(ctx, outs, first, now); err != nil {
		return err
	}
	f.mu.Lock()
	for _, out := range outs {
		if js := f.jobs.of(out.Task.Job); js != nil {
			f.leases.leavePlace(js, &out.Task)
		}
	}
	f.mu.Unlock()
	return f.shutAll(ctx, outs, now)
}

// setAside stores tasks of jobs that have spent their budgets where a restart, perhaps with a larger budget, finds
// them.
func (f *Frontier) setAside(ctx context.Context, choices []choice) error {
	var items []crawl.Queued
	for i := range choices {
		if c := &choices[i]; c.aside {
			items = append(items, crawl.Queued{Queue: asideQueue, Task: c.delivery.Task})
		}
	}
	if len(items) == 0 {
		return nil
	}
	if err := f.push(ctx, items); err != nil {
		return fmt.Errorf("frontier: set %d tasks aside: %w", len(items), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stock.aside += int64(len(items))
	f.stock.queued += int64(len(items))
	return nil
}

// advance takes the chosen tasks off their hosts' buffers, frees the hosts that lease nothing, and lets those with a
// connection to spare wait for the next.
func (f *Frontier) advance(choices []choice, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		c := &choices[i]
		if c.lease {
			e := &crawl.Fetch{Task: c.delivery.Task, Addr: c.addr, Tenure: c.place.Tenure,
				FirstWait: f.bench.newcomers.firstWait(c.host, &c.delivery.Task, c.js.job)}
			f.out.post(bus.Message{ID: c.id, Event: e})
		} else {
			f.bench.pass(c.host)
		}
		if c.fromBuf {
			f.out.settle(c.delivery)
			c.host.buf = c.host.buf[1:]
			f.stock.took()
			c.host.next()
		}
		f.rejoin(c.host, c.js, now)
	}
}

// undo frees the hosts of choices that came to nothing, and lets them wait a little. What was to be stored of their
// tasks may be stored all the same.
func (f *Frontier) undo(choices []choice, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		c := &choices[i]
		if c.lease {
			f.leases.release(c)
		}
		if c.fromBuf && len(c.host.buf) > 0 {
			c.host.buf[0].Task.Repeat = true
		}
		f.bench.pass(c.host)
		f.bench.add(c.host, now.Add(errorPause))
	}
}
