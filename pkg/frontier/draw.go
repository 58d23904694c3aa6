package frontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// hostBuffer is how many tasks of one host are held in memory; more go to its back queue.
const hostBuffer = 256

// draw moves a batch of tasks from a front queue to the hosts, as long as fetchers are idle and there is room. It reports
// whether it did anything.
func (f *Frontier) draw(ctx context.Context, now time.Time) (bool, error) {
	batch := f.drawn
	f.mu.Lock()
	room := len(f.inflight) < f.cfg.Window && len(f.hosts) < f.cfg.MaxActive && f.pacer.ready(now)
	priority := 0
	if room && len(batch) == 0 {
		priority = pickFront(f.random, f.fronts[:])
	}
	f.mu.Unlock()
	if !room {
		return false, nil
	}
	if len(batch) == 0 {
		if priority == 0 {
			return false, nil
		}
		var err error
		if batch, err = f.pullFront(ctx, priority); err != nil || len(batch) == 0 {
			return false, err
		}
	}
	f.drawn = nil
	return true, f.distribute(ctx, batch, now)
}

// pickFront chooses a front queue that is not empty at random, each twice as likely as the one below it; 0: all are empty.
func pickFront(random *rand.Rand, lengths []int64) int {
	total := 0
	for p, n := range lengths {
		if n > 0 {
			total += 1 << p
		}
	}
	if total == 0 {
		return 0
	}
	x := random.IntN(total)
	for p, n := range lengths {
		if n > 0 {
			if x -= 1 << p; x < 0 {
				return p
			}
		}
	}
	return 0
}

func (f *Frontier) pullFront(ctx context.Context, priority int) ([]crawl.Delivery, error) {
	ds, err := f.deps.Queues.Pull(ctx, frontQueue(priority), f.cfg.Batch)
	if err != nil {
		return nil, fmt.Errorf("frontier: draw from front queue %d: %w", priority, err)
	}
	f.mu.Lock()
	f.fronts[priority] -= int64(len(ds))
	f.mu.Unlock()
	return ds, nil
}

// distribute gives drawn tasks to their hosts: into the host's buffer while that is short and nothing waits behind it, into
// its back queue otherwise. Tasks whose hosts find no place are kept for the next draw.
func (f *Frontier) distribute(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	records, err := f.records(ctx, batch)
	if err != nil {
		f.drawn = batch
		return err
	}
	var moved []crawl.Delivery
	var items []crawl.Queued
	var started []*host
	f.mu.Lock()
	for i, d := range batch {
		key := d.Task.URL.HostKey()
		h := f.hosts[key]
		if h == nil {
			if len(f.hosts) >= f.cfg.MaxActive {
				f.drawn = append(f.drawn, batch[i])
				continue
			}
			h = f.activate(records[key], now)
			started = append(started, h)
		}
		if h.backlog == 0 && h.queue == "" && len(h.buf) < hostBuffer && f.held < f.cfg.MaxHeld {
			h.buf = append(h.buf, d)
			f.held++
			continue
		}
		if h.queue == "" {
			h.queue = f.backs.take()
		}
		moved, items = append(moved, d), append(items, crawl.Queued{Queue: h.queue, Task: d.Task})
	}
	f.pacer.note(now, len(started) > 0)
	f.mu.Unlock()
	if err := f.moveBack(ctx, items, moved); err != nil {
		f.drawn = append(f.drawn, moved...)
		return err
	}
	return f.start(ctx, batch, now)
}

// moveBack stores tasks in back queues and settles them where they came from.
func (f *Frontier) moveBack(ctx context.Context, items []crawl.Queued, moved []crawl.Delivery) error {
	if len(items) == 0 {
		return nil
	}
	if err := f.deps.Queues.Push(ctx, items...); err != nil {
		return fmt.Errorf("frontier: move %d tasks to back queues: %w", len(items), err)
	}
	f.mu.Lock()
	for _, it := range items {
		if h := f.hosts[it.Task.URL.HostKey()]; h != nil {
			h.backlog++
		}
	}
	f.mu.Unlock()
	if err := f.deps.Queues.Settle(ctx, moved...); err != nil {
		return fmt.Errorf("frontier: settle %d moved tasks: %w", len(moved), err)
	}
	return nil
}

// records reads what is remembered of the batch's hosts that are not active.
func (f *Frontier) records(ctx context.Context, batch []crawl.Delivery) (map[string]crawl.Host, error) {
	missing := map[string]crawl.Host{}
	f.mu.Lock()
	for _, d := range batch {
		if key := d.Task.URL.HostKey(); f.hosts[key] == nil {
			missing[key] = crawl.Host{Key: key}
		}
	}
	f.mu.Unlock()
	for key := range missing {
		rec, found, err := f.deps.Hosts.Host(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("frontier: record of host %s: %w", key, err)
		}
		if found {
			missing[key] = rec
		}
	}
	return missing, nil
}

// activate puts a host on the workbench, without tasks. After a restart its clock starts anew: a request may have been under
// way when the program ended.
func (f *Frontier) activate(rec crawl.Host, now time.Time) *host {
	if f.resumedAt.After(rec.LastContact) {
		rec.LastContact = f.resumedAt
	}
	h := &host{rec: rec, index: -1}
	f.hosts[rec.Key] = h
	return h
}

// start lets the batch's hosts that have work, and do not wait already, wait for their time.
func (f *Frontier) start(ctx context.Context, batch []crawl.Delivery, now time.Time) error {
	for _, d := range batch {
		js, err := f.jobOf(ctx, d.Task.Job)
		if err != nil {
			return err
		}
		f.mu.Lock()
		h := f.hosts[d.Task.URL.HostKey()]
		switch {
		case h == nil || !h.work() || h.index >= 0 || h.resolving:
		case h.unit == nil && f.sharesAddress(js.job):
			h.resolving = true
			f.resolve(ctx, h, js)
		case h.unit == nil:
			f.bench.join(h, "")
			f.rejoin(h, js, now)
		default:
			f.rejoin(h, js, now)
		}
		f.mu.Unlock()
	}
	return nil
}

// deactivate takes a host without tasks off the workbench, and frees its back queue.
func (f *Frontier) deactivate(h *host, now time.Time) {
	if !h.idle() || h.resolving {
		return
	}
	if h.queue != "" {
		f.backs.give(h.queue)
	}
	if h.unit != nil {
		f.bench.leave(h, now)
	}
	delete(f.hosts, h.rec.Key)
	f.pacer.reset()
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
