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
	judgedBy  *crawl.Job       // the revision that the task was judged by
	judged    *dismissal       // it does not want the task any more
}

// leaseReady leases the tasks of the hosts whose time has come.
func (dp *dispatcher) leaseReady(ctx context.Context, now time.Time) (bool, error) {
	if err := dp.out.send(ctx); err != nil { // what could not be sent before
		return false, err
	}
	hosts := dp.takeReady(ctx, now)
	if len(hosts) == 0 {
		return false, nil
	}
	choices, failed := dp.decideAll(ctx, hosts, now)
	err := dp.refresh(ctx, choices)
	if err == nil {
		err = dp.takeAway(ctx, choices, now)
	}
	if err == nil {
		err = dp.dropRepeats(ctx, choices)
	}
	if err == nil {
		err = dp.dismiss(ctx, choices, now)
	}
	if err == nil {
		err = dp.setAside(ctx, choices)
	}
	if err != nil {
		dp.undo(choices, now)
		return true, errors.Join(failed, err)
	}
	dp.advance(choices, now)
	return true, errors.Join(failed, dp.out.send(ctx))
}

func (dp *dispatcher) takeReady(ctx context.Context, now time.Time) []*host {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	if dp.paused {
		return nil
	}
	dp.unblock(now)
	dp.keepPace(now)
	dp.keepBest(now)
	dp.bench.newcomers.connections = dp.jobs.connections()
	resolve := func(h *host) bool { return dp.resolveNext(ctx, h) }
	dp.bench.recall(resolve)
	var hosts []*host
	n := min(dp.cfg.Window-dp.leases.len(), dp.cfg.Batch)
	if _, some := dp.bench.due(); some && (dp.trouble.on || now.Before(dp.trouble.files)) {
		n = dp.trouble.probes(n, now, dp.deps.Log)
	}
	for range n {
		h := dp.bench.next(now, resolve)
		if h == nil {
			break
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// decideAll decides about each host. Hosts whose next task cannot be had now wait a little; the error says why.
func (dp *dispatcher) decideAll(ctx context.Context, hosts []*host, now time.Time) ([]choice, error) {
	choices := make([]choice, 0, len(hosts))
	var errs []error
	for _, h := range hosts {
		js, err := dp.fill(ctx, h)
		if err != nil {
			if !errors.Is(err, errLooked) {
				errs = append(errs, err)
			}
			dp.undo([]choice{{host: h}}, now)
			continue
		}
		dp.markDoubted(h)
		c := choice{host: h, js: js}
		if err := dp.rejudge(ctx, &c); err != nil {
			errs = append(errs, err)
			dp.undo([]choice{c}, now)
			continue
		}
		choices = append(choices, c)
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i := range choices {
		if c := &choices[i]; len(c.host.buf) > 0 {
			dp.decide(c, now)
		}
	}
	return choices, errors.Join(errs...)
}

// decide decides what a ready host does with its next task: mostly lease it, or the robots.txt that it needs.
func (dp *dispatcher) decide(c *choice, now time.Time) {
	h, job := c.host, c.js.job
	c.delivery, c.addr = h.buf[0], h.rec.Addr
	task := &c.delivery.Task
	if dp.hosts.waits(h.rec.Key) || !dp.decidePlace(c, task) {
		return
	}
	if c.fromBuf = c.js.discarded(task) || dp.copyUnderWay(c, task); c.fromBuf || c.judgedBy != job {
		return // where the job was revised meanwhile, the host comes again, and the task is judged anew
	}
	if c.dismissal = dp.dismissalOf(c, task, job, now); c.dismissal != nil {
		c.fromBuf = true
		return
	}
	if c.js.keeps(task) {
		c.aside = dp.setsAside(c.js)
		c.fromBuf = c.aside
		return
	}
	// the task may be of a job more patient than the last
	if dp.hosts.earliest(h, job).After(now) || dp.outdoes(c.js, h, task, now) || dp.holds(c.js, now) {
		return
	}
	c.fromBuf = true
	if !h.rulesKnown(task, job, now) {
		if robots, ok := dp.robots.next(h, task, job, now); ok {
			c.fromBuf = false
			if robots == nil {
				return
			}
			c.delivery = crawl.Delivery{Task: *robots}
		}
	}
	h.passed = time.Time{}
	c.id = c.delivery.Task.ID()
	if l := dp.leases.of(c.id); l != nil {
		// a former life of the job has it still; else it is the same URL twice, and this one is settled
		c.fromBuf = l.js == c.js && c.fromBuf && task.Kind != crawl.KindRobots
		return
	}
	dp.leases.reserve(c)
	dp.guests.leased(h.rec.Key)
	c.js.pace.begin(&job.Bounds, dp.nodes, now)
}

// copyUnderWay reports whether another copy of the task is leased: this one is settled, whatever else would become of
// it.
func (dp *dispatcher) copyUnderWay(c *choice, task *crawl.Task) bool {
	if !task.Repeat || !task.Kind.InLedger() {
		return false
	}
	l := dp.leases.of(task.ID())
	return l != nil && l.js == c.js
}

// decidePlace decides whether this node may do anything with the task. A buffer of another node's tasks goes away as a
// whole.
func (dp *dispatcher) decidePlace(c *choice, task *crawl.Task) bool {
	c.place = dp.duties.place(task.URL)
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
func (dp *dispatcher) takeAway(ctx context.Context, choices []choice, now time.Time) error {
	for i := range choices {
		if c := &choices[i]; len(c.away) > 0 {
			if err := dp.sendAway(ctx, c.away, now); err != nil {
				c.away = nil
				return err
			}
			dp.mu.Lock()
			dp.stock.held -= len(c.away)
			c.host.buf = nil
			dp.mu.Unlock()
		}
	}
	return nil
}

// dropRepeats asks the ledger about tasks that may have been queued twice, and drops those that have their outcome.
func (dp *dispatcher) dropRepeats(ctx context.Context, choices []choice) error {
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
		entries, err := dp.deps.Ledger.Lookup(ctx, job, keys[job]...)
		if err != nil {
			return fmt.Errorf("frontier: look up %d URLs, the first %s: %w", len(cs), cs[0].delivery.Task.URL, err)
		}
		dp.mu.Lock()
		for i, c := range cs {
			if ended(&entries[i], &c.delivery.Task) {
				dp.leases.release(c)
			}
		}
		dp.mu.Unlock()
		if err := dp.dropOverdue(ctx, job, cs); err != nil {
			return err
		}
	}
	return nil
}

// dismiss ends the story of tasks that will not be fetched.
func (dp *dispatcher) dismiss(ctx context.Context, choices []choice, now time.Time) error {
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
	if err := dp.record(ctx, outs, first, now); err != nil {
		return err
	}
	if err := dp.revisitDismissed(ctx, outs); err != nil {
		return err
	}
	var left endedPages
	dp.mu.Lock()
	for _, out := range outs {
		if js := dp.jobs.of(out.Task.Job); js != nil && dp.leases.leavePlace(js, &out.Task) {
			left.add(&out.Task)
		}
	}
	dp.mu.Unlock()
	if err := dp.places.forget(ctx, left); err != nil {
		return err
	}
	return dp.shutAll(ctx, outs, now)
}

// setAside stores tasks of jobs that have spent their budgets where a restart, perhaps with a larger budget, finds
// them.
func (dp *dispatcher) setAside(ctx context.Context, choices []choice) error {
	var items []crawl.Queued
	for i := range choices {
		if c := &choices[i]; c.aside {
			items = append(items, crawl.Queued{Task: c.delivery.Task})
		}
	}
	if len(items) == 0 {
		return nil
	}
	dp.mu.Lock()
	for i := range items {
		items[i].Queue = dp.stock.fronts.jobs(items[i].Task.Job).queue(0)
	}
	dp.mu.Unlock()
	if err := dp.push(ctx, items); err != nil {
		return fmt.Errorf("frontier: set %d tasks aside: %w", len(items), err)
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i := range items {
		dp.stock.setAside(dp.stock.fronts.jobs(items[i].Task.Job), 1)
	}
	dp.stock.queued += int64(len(items))
	return nil
}

// advance takes the chosen tasks off their hosts' buffers, frees the hosts that lease nothing, and lets those with a
// connection to spare wait for the next.
func (dp *dispatcher) advance(choices []choice, now time.Time) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	defer dp.guests.tell()
	for i := range choices {
		c := &choices[i]
		if c.lease {
			e := &crawl.Fetch{Task: c.delivery.Task, Addr: c.addr, Tenure: c.place.Tenure, Bandwidth: dp.bandwidth(c.js.job),
				FirstWait: dp.bench.newcomers.firstWait(c.host, &c.delivery.Task, c.js.job)}
			dp.out.post(bus.Message{ID: c.id, Event: e})
		} else {
			dp.bench.pass(c.host)
		}
		if c.fromBuf {
			dp.out.settle(c.delivery)
			c.host.buf = c.host.buf[1:]
			dp.stock.took()
			c.host.next()
		}
		dp.rejoin(c.host, c.js, now)
	}
}

// undo frees the hosts of choices that came to nothing, and lets them wait a little. What was to be stored of their
// tasks may be stored all the same.
func (dp *dispatcher) undo(choices []choice, now time.Time) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	defer dp.guests.tell()
	for i := range choices {
		c := &choices[i]
		if c.lease {
			dp.leases.release(c)
		}
		if c.fromBuf && len(c.host.buf) > 0 {
			c.host.buf[0].Task.Repeat = true
		}
		dp.bench.pass(c.host)
		dp.bench.add(c.host, now.Add(errorPause))
	}
}
