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

// draw moves a batch of tasks from a front queue to the hosts, as long as fetchers are idle and there is room. It
// reports whether it did anything.
func (dp *dispatcher) draw(ctx context.Context, now time.Time) (bool, error) {
	batch := dp.drawn
	dp.mu.Lock()
	room := dp.wantsMore(now)
	var from drawing
	if room && len(batch) == 0 {
		from = dp.stock.fronts.pick(dp.random, func(j *jobFronts) bool { return dp.stays(j, now) }, dp.jobs.topical)
	}
	dp.mu.Unlock()
	if !room {
		return false, nil
	}
	if len(batch) == 0 {
		if from.front == nil || dp.looks.in(from.front.queue(from.number)) {
			return false, nil
		}
		var err error
		if batch, err = dp.pullFront(ctx, from); err != nil || len(batch) == 0 {
			return err == nil, err
		}
	}
	dp.drawn = nil
	return true, dp.distribute(ctx, batch, now)
}

// enoughHosts times the window is how many hosts are active before only need draws more: Mercator's back queues were
// three times its fetchers. Of a domain only those count that may always take turns.
const enoughHosts = 3

// wantsMore reports whether tasks are to be drawn: there is room, and the fetchers might run out of hosts. Tasks that
// stay in the front queues keep the order of their priorities and need not be moved twice.
func (dp *dispatcher) wantsMore(now time.Time) bool {
	if dp.paused || dp.leases.len() >= dp.cfg.Window || len(dp.hosts.active) >= dp.cfg.MaxActive ||
		!dp.bench.pacer.ready(now) || dp.addresses.full() {
		return false
	}
	at, some := dp.bench.due()
	return dp.bench.domains.hosts < enoughHosts*dp.cfg.Window || (!some || at.After(now)) && !dp.bench.newcomers.soon()
}

// pickFront chooses a front queue that is not empty at random, each twice as likely as the one below it; -1: all are
// empty.
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

func (dp *dispatcher) pullFront(ctx context.Context, from drawing) ([]crawl.Delivery, error) {
	front, number := from.front, from.number
	dp.mu.Lock()
	name, counted := front.queue(number), front.lengths[number]
	dp.mu.Unlock()
	ds, err := dp.pull(ctx, name, from.most(dp.cfg.Batch))
	if err != nil {
		return nil, fmt.Errorf("frontier: draw from front queue %s: %w", name, err)
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	if len(ds) == 0 {
		dp.stock.frontShort(front, number, counted)
	}
	dp.stock.drew(front, number, ds)
	return from.chosen(ds), nil
}

// distribute gives drawn tasks to their hosts. Tasks whose hosts find no place are kept for the next draw.
func (dp *dispatcher) distribute(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	batch, orphans := dp.orphans(ctx, dp.dropDiscarded(ctx, batch))
	if err := dp.shelve(ctx, orphans); err != nil {
		dp.drawn = slices.Concat(batch, orphans)
		return err
	}
	batch, foreign := dp.splitForeign(batch)
	if len(foreign) > 0 {
		if err := dp.sendAway(ctx, foreign, now); err != nil {
			dp.drawn = slices.Concat(batch, foreign)
			return err
		}
	}
	records, err := dp.records(ctx, batch)
	if err != nil {
		dp.drawn = batch
		return err
	}
	b := allotment{fresh: len(foreign) > 0}
	dp.mu.Lock()
	dp.allot(batch, records, &b)
	dp.bench.pacer.note(now, b.fresh)
	dp.mu.Unlock()
	return errors.Join(dp.moveBack(ctx, b.items, b.moved), dp.putOff(ctx, b.crowding, now), dp.start(ctx, batch, now))
}

// allotment is where drawn tasks go that no buffer takes.
type allotment struct {
	moved    []crawl.Delivery // to the back queues of their hosts
	items    []crawl.Queued   // the same, as they are put there
	crowding []crawl.Delivery // they wait: their domain has too many active hosts, or their host gets no back queue
	fresh    bool             // the batch brought hosts that were needed
}

// allot gives tasks to their hosts. Those whose hosts find no place are drawn once more. mu is held.
func (dp *dispatcher) allot(batch []crawl.Delivery, records map[string]*record, b *allotment) {
	for _, d := range batch {
		key := d.Task.URL.HostKey()
		h := dp.hosts.of(key)
		if h == nil {
			rec, read := records[key]
			if !read || len(dp.hosts.active) >= dp.cfg.MaxActive { // it left the workbench just now, or there is no place
				dp.drawn = append(dp.drawn, d)
				continue
			}
			domain := d.Task.URL.RegistrableDomain()
			if dp.bench.domains.full(domain, dp.cfg.MaxActive) {
				b.crowding = append(b.crowding, d)
				continue
			}
			h = dp.activate(rec, domain)
			b.fresh = b.fresh || dp.bench.newcomers.waiting[newcomer].len() < enoughHosts*dp.cfg.Window
		}
		left, some := dp.take(h, d)
		switch {
		case !some:
		case h.laneOf(left.Task.Job).queue == "" && dp.stock.backs.full():
			b.crowding = append(b.crowding, left)
		default:
			b.moved, b.items = append(b.moved, left), append(b.items, dp.assign(h, left))
		}
	}
}

// take puts a drawn task into the host's buffer while that is short and nothing waits behind it. A robots.txt, which
// another host waits for, goes to the head. left is the task that finds no place there.
func (dp *dispatcher) take(h *host, d crawl.Delivery) (left crawl.Delivery, some bool) {
	l := h.laneOf(d.Task.Job)
	h.links = max(h.links, d.Task.HostLinks)
	switch {
	case d.Task.Kind == crawl.KindRobots || dp.jobs.keepsPlace(&d.Task): // others may wait for the budget before it
		l.buf = slices.Insert(l.buf, 0, d)
	case d.Task.Visit > 0 && len(l.buf) < 2*hostBuffer: // it does not wait for all that is new at the host
		l.buf = slices.Insert(l.buf, l.before(d.Task.Rank()), d)
	case d.Task.Finds > 0 && len(l.buf) < 2*hostBuffer: // before those that were found less often
		l.buf = slices.Insert(l.buf, l.before(d.Task.Rank()), d)
	case l.passes(&d.Task): // before those that promise less, of which the last makes room
		if l.buf = slices.Insert(l.buf, l.before(d.Task.Rank()), d); len(l.buf) > 2*hostBuffer {
			last := len(l.buf) - 1
			left, l.buf = l.buf[last], l.buf[:last]
			return left, true
		}
	case l.backlog == 0 && len(l.buf) < hostBuffer && dp.mayHold(l):
		l.buf = append(l.buf, d)
	default:
		return d, true
	}
	dp.stock.held++
	return crawl.Delivery{}, false
}

// heldAtMost times MaxHeld tasks are in memory while hosts can get no back queue, and one of each host.
const heldAtMost = 2

// mayHold reports whether one more task of a host and a job may be in memory.
func (dp *dispatcher) mayHold(l *lane) bool {
	held := dp.stock.held
	if held < dp.cfg.MaxHeld || l.queue != "" || !dp.stock.backs.full() {
		return held < dp.cfg.MaxHeld
	}
	return len(l.buf) == 0 || held < heldAtMost*dp.cfg.MaxHeld
}

// assign names the back queue that a task of the host goes to. The host counts it from now on, which keeps it active.
func (dp *dispatcher) assign(h *host, d crawl.Delivery) crawl.Queued {
	l := h.laneOf(d.Task.Job)
	if l.queue == "" {
		l.queue = dp.stock.backs.take()
	}
	l.backlog++
	return crawl.Queued{Queue: l.queue, Task: d.Task}
}

// moveBack stores tasks in the back queues of their hosts and settles them where they came from. Where it cannot, the
// tasks are tried again with the next draw.
func (dp *dispatcher) moveBack(ctx context.Context, items []crawl.Queued, moved []crawl.Delivery) error {
	if len(moved) == 0 {
		return nil
	}
	err := dp.push(ctx, items)
	if err == nil {
		dp.out.settle(moved...)
		return nil
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i := range moved {
		dp.hosts.of(moved[i].Task.URL.HostKey()).laneOf(moved[i].Task.Job).backlog--
		moved[i].Task.Repeat = true // what failed may have been done all the same
	}
	dp.drawn = append(dp.drawn, moved...)
	return fmt.Errorf("frontier: move %d tasks to back queues: %w", len(items), err)
}

// crowdPause is how long tasks wait whose domain has too many active hosts, or whose host gets no back queue.
const crowdPause = time.Minute

// putOff lets drawn tasks wait that find no place: so the hosts of other domains find places on the workbench.
func (dp *dispatcher) putOff(ctx context.Context, ds []crawl.Delivery, now time.Time) error {
	if len(ds) == 0 {
		return nil
	}
	if err := dp.delay(ctx, tasksIn(ds), crowdPause, now); err != nil {
		for i := range ds {
			ds[i].Task.Repeat = true // what failed may have been done all the same
		}
		dp.drawn = append(dp.drawn, ds...)
		return fmt.Errorf("frontier: put off %d tasks that find no place: %w", len(ds), err)
	}
	dp.requeued(ds)
	return nil
}

// start lets the batch's hosts that do not wait already wait for their time. A host whose job cannot be had now is
// tried again by the dispatcher.
func (dp *dispatcher) start(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	var errs []error
	states := make([]*jobState, len(batch))
	roll := rollCall{f: dp.Frontier}
	for i := range batch {
		var err error
		if states[i], err = roll.of(ctx, &batch[i].Task); err != nil {
			errs = append(errs, err)
		}
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i, js := range states {
		h := dp.hosts.of(batch[i].Task.URL.HostKey())
		switch {
		case h == nil || h.index >= 0 || h.resolving:
		case h.unit != nil:
			dp.rejoin(h, js, now)
		case h.line != nil:
		case js != nil && dp.addresses.share(js.job):
			if !dp.waitsUnresolved(h) {
				dp.resolve(ctx, h, js)
			}
		default:
			dp.bench.join(h, "")
			dp.rejoin(h, js, now)
		}
	}
	return errors.Join(errs...)
}

// pacer spaces draws that bring no new host. When all front tasks belong to hosts that have work already, drawing more
// only moves them about and takes away the order of their priorities; so such draws come ever more rarely.
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
