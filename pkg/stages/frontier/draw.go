package frontier

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// draw moves a batch of tasks from a front queue to the hosts, as long as fetchers are idle and there is room. It reports
// whether it did anything.
func (f *Frontier) draw(ctx context.Context, now time.Time) (bool, error) {
	batch := f.drawn
	f.mu.Lock()
	room := f.wantsMore(now)
	var front *jobFronts
	var priority int
	if room && len(batch) == 0 {
		front, priority = f.fronts.pick(f.random)
	}
	f.mu.Unlock()
	if !room {
		return false, nil
	}
	if len(batch) == 0 {
		if front == nil {
			return false, nil
		}
		var err error
		if batch, err = f.pullFront(ctx, front, priority); err != nil || len(batch) == 0 {
			return err == nil, err
		}
	}
	f.drawn = nil
	return true, f.distribute(ctx, batch, now)
}

// enoughHosts times the window is how many hosts are active before only need draws more: Mercator's back queues were three
// times its fetchers. Of a domain only those count that may always take turns.
const enoughHosts = 3

// wantsMore reports whether tasks are to be drawn: there is room, and the fetchers might run out of hosts. Tasks that stay
// in the front queues keep the order of their priorities and need not be moved twice.
func (f *Frontier) wantsMore(now time.Time) bool {
	if f.paused || len(f.inflight) >= f.cfg.Window || len(f.hosts) >= f.cfg.MaxActive || !f.pacer.ready(now) ||
		f.resolving >= f.maxResolving() {
		return false
	}
	at, some := f.bench.due()
	return f.domains.hosts < enoughHosts*f.cfg.Window || (!some || at.After(now)) && !f.newcomers.soon()
}

// pickFront chooses a front queue that is not empty at random, each twice as likely as the one below it; -1: all are empty.
func pickFront(random *rand.Rand, lengths []int64) int {
	total := 0
	for p, n := range lengths {
		if n > 0 {
			total += 1 << p
		}
	}
	if total == 0 {
		return -1
	}
	x := random.IntN(total)
	for p, n := range lengths {
		if n > 0 {
			if x -= 1 << p; x < 0 {
				return p
			}
		}
	}
	return -1
}

func (f *Frontier) pullFront(ctx context.Context, front *jobFronts, priority int) ([]crawl.Delivery, error) {
	f.mu.Lock()
	name, counted := front.queue(priority), front.lengths[priority]
	f.mu.Unlock()
	ds, err := f.deps.Queues.Pull(ctx, name, f.cfg.Batch)
	if err != nil {
		return nil, fmt.Errorf("frontier: draw from front queue %s: %w", name, err)
	}
	if len(ds) == 0 {
		f.frontShort(front, priority, counted)
	}
	f.drew(front, priority, ds)
	return ds, nil
}

// distribute gives drawn tasks to their hosts. Tasks whose hosts find no place are kept for the next draw.
func (f *Frontier) distribute(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	batch, orphans := f.orphans(ctx, f.dropDiscarded(ctx, batch))
	if err := f.shelve(ctx, orphans); err != nil {
		f.drawn = slices.Concat(batch, orphans)
		return err
	}
	batch, foreign := f.splitForeign(batch)
	if len(foreign) > 0 {
		if err := f.sendAway(ctx, foreign, now); err != nil {
			f.drawn = slices.Concat(batch, foreign)
			return err
		}
	}
	records, err := f.records(ctx, batch)
	if err != nil {
		f.drawn = batch
		return err
	}
	var moved, crowding []crawl.Delivery
	var items []crawl.Queued
	fresh := len(foreign) > 0
	f.mu.Lock()
	for _, d := range batch {
		key := d.Task.URL.HostKey()
		h := f.hosts[key]
		if h == nil {
			rec, read := records[key]
			if !read || len(f.hosts) >= f.cfg.MaxActive { // it left the workbench just now, or there is no place for it
				f.drawn = append(f.drawn, d)
				continue
			}
			domain := d.Task.URL.RegistrableDomain()
			if f.domains.full(domain, f.cfg.MaxActive) {
				crowding = append(crowding, d)
				continue
			}
			h = f.activate(rec, domain)
			fresh = fresh || f.newcomers.waiting[newcomer].len() < enoughHosts*f.cfg.Window
		}
		if !f.take(h, d) {
			moved, items = append(moved, d), append(items, f.assign(h, d))
		}
	}
	f.pacer.note(now, fresh)
	f.mu.Unlock()
	return errors.Join(f.moveBack(ctx, items, moved), f.putOff(ctx, crowding, now), f.start(ctx, batch, now))
}

// take puts a drawn task into the host's buffer while that is short and nothing waits behind it. A robots.txt, which another
// host waits for, goes to the head.
func (f *Frontier) take(h *host, d crawl.Delivery) bool {
	l := h.laneOf(d.Task.Job)
	switch {
	case d.Task.Kind == crawl.KindRobots || f.keepsPlace(&d.Task): // others may wait for the budget, before it and behind
		l.buf = slices.Insert(l.buf, 0, d)
	case l.backlog == 0 && len(l.buf) < hostBuffer && f.held < f.cfg.MaxHeld:
		l.buf = append(l.buf, d)
	default:
		return false
	}
	f.held++
	return true
}

// assign names the back queue that a task of the host goes to. The host counts it from now on, which keeps it active.
func (f *Frontier) assign(h *host, d crawl.Delivery) crawl.Queued {
	l := h.laneOf(d.Task.Job)
	if l.queue == "" {
		l.queue = f.backs.take()
	}
	l.backlog++
	return crawl.Queued{Queue: l.queue, Task: d.Task}
}

// moveBack stores tasks in the back queues of their hosts and settles them where they came from. Where it cannot, the tasks
// are tried again with the next draw.
func (f *Frontier) moveBack(ctx context.Context, items []crawl.Queued, moved []crawl.Delivery) error {
	if len(moved) == 0 {
		return nil
	}
	err := f.push(ctx, items)
	if err == nil {
		f.unsettled = append(f.unsettled, moved...)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range moved {
		f.hosts[moved[i].Task.URL.HostKey()].laneOf(moved[i].Task.Job).backlog--
		moved[i].Task.Repeat = true // what failed may have been done all the same
	}
	f.drawn = append(f.drawn, moved...)
	return fmt.Errorf("frontier: move %d tasks to back queues: %w", len(items), err)
}

// crowdPause is how long tasks wait whose domain has too many active hosts.
const crowdPause = time.Minute

// putOff lets drawn tasks of crowded domains wait, so that the hosts of others find places on the workbench.
func (f *Frontier) putOff(ctx context.Context, ds []crawl.Delivery, now time.Time) error {
	if len(ds) == 0 {
		return nil
	}
	tasks := make([]crawl.Task, len(ds))
	for i := range ds {
		tasks[i] = ds[i].Task
	}
	if err := f.delay(ctx, tasks, crowdPause, now); err != nil {
		for i := range ds {
			ds[i].Task.Repeat = true // what failed may have been done all the same
		}
		f.drawn = append(f.drawn, ds...)
		return fmt.Errorf("frontier: tasks of crowded domains: %w", err)
	}
	f.mu.Lock()
	f.queued -= int64(len(ds))
	f.mu.Unlock()
	f.unsettled = append(f.unsettled, ds...)
	return nil
}

// start lets the batch's hosts that do not wait already wait for their time. A host whose job cannot be had now is tried again
// by the dispatcher.
func (f *Frontier) start(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	var errs []error
	for i := range batch {
		js, err := f.jobOf(ctx, batch[i].Task.Job)
		if err != nil {
			errs = append(errs, err)
		}
		f.mu.Lock()
		h := f.hosts[batch[i].Task.URL.HostKey()]
		switch {
		case h == nil || h.index >= 0 || h.resolving:
		case h.unit != nil:
			f.rejoin(h, js, now)
		case h.line != nil:
		case js != nil && f.sharesAddress(js.job):
			if !f.waitsUnresolved(h) {
				f.resolve(ctx, h, js)
			}
		default:
			f.bench.join(h, "")
			f.rejoin(h, js, now)
		}
		f.mu.Unlock()
	}
	return errors.Join(errs...)
}

// pacer spaces draws that bring no new host. When all front tasks belong to hosts that have work already, drawing more only
// moves them about and takes away the order of their priorities; so such draws come ever more rarely.
type pacer struct {
	pause time.Duration
	until time.Time
}

const (
	pacerMin = 5 * time.Millisecond
	pacerMax = time.Second
)

func (p *pacer) ready(now time.Time) bool { return !now.Before(p.until) }

func (p *pacer) note(now time.Time, productive bool) {
	if productive {
		p.reset()
		return
	}
	p.pause = min(max(2*p.pause, pacerMin), pacerMax)
	p.until = now.Add(p.pause)
}

func (p *pacer) reset() { *p = pacer{} }
