package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Ring tells a frontier which hosts are its own. It answers from memory and at once. When an answer changes somebody calls [Frontier.Wake].
type Ring interface {
	Place(u weburl.URL) Place
}

// Place is what a node may do with a URL.
type Place struct {
	Node  string // the owner; empty: this node
	Lease bool   // this node may contact the host now
	// Since is from when this node may: what others asked of the host ended before, and what they stored about it was stored before.
	Since time.Time
	// Vnode groups the hosts that move together.
	Vnode int
	// Factor is by what the delays of the job are multiplied, at least 1: as many nodes ask the host.
	Factor int
	Tenure uint64 // goes into the crawl.Fetch of a lease
}

// everywhere is the place of every URL where there is no ring.
var everywhere = Place{Lease: true, Factor: 1}

func (f *Frontier) place(u weburl.URL) Place {
	if f.deps.Ring == nil {
		return everywhere
	}
	return f.deps.Ring.Place(u)
}

// Wake makes the dispatcher look again: the ring has changed.
func (f *Frontier) Wake() { f.signal() }

const (
	// holdPause is how long a host whose virtual node is on its way waits before it is looked at again.
	holdPause = 250 * time.Millisecond
	// awayPause is how long tasks wait whose owner's broker is out of reach.
	awayPause = 10 * time.Second
)

// byOwner tells this node's tasks from those of others, which it marks: their owner may have them from the ledger already.
func (f *Frontier) byOwner(tasks []crawl.Task) (own []crawl.Task, others []crawl.Event) {
	if f.deps.Ring == nil {
		return tasks, nil
	}
	events := map[string]*crawl.Fresh{}
	for _, t := range tasks {
		node := f.place(t.URL).Node
		if node == "" {
			own = append(own, t)
			continue
		}
		e := events[node]
		if e == nil {
			e = &crawl.Fresh{Node: node}
			events[node] = e
			others = append(others, e)
		}
		t.Repeat, t.Lease = true, 0
		e.Tasks = append(e.Tasks, t)
	}
	return own, others
}

// sendAway sends tasks of other nodes' hosts to their owners and settles them. Where an owner's broker is out of reach its tasks wait in a
// queue of retries; nothing else waits for them.
func (f *Frontier) sendAway(ctx context.Context, ds []crawl.Delivery, now time.Time) error {
	tasks := make([]crawl.Task, len(ds))
	for i := range ds {
		tasks[i] = ds[i].Task
	}
	own, others := f.byOwner(tasks) // the ring may have changed since somebody looked
	var stay []crawl.Task
	for _, e := range others {
		fresh := e.(*crawl.Fresh)
		id := fresh.Tasks[0].ID().Child("forward", len(fresh.Tasks))
		if err := f.deps.Bus.Publish(ctx, bus.Message{ID: id, Event: e}); err != nil {
			f.deps.Log.Debug("tasks of another node wait", "node", fresh.Node, "tasks", len(fresh.Tasks), "error", err)
			stay = append(stay, fresh.Tasks...)
		}
	}
	if err := f.enqueue(ctx, true, own...); err != nil {
		return err
	}
	if err := f.delay(ctx, stay, awayPause, now); err != nil {
		return fmt.Errorf("frontier: tasks of other nodes: %w", err)
	}
	f.mu.Lock()
	f.queued -= int64(len(ds))
	f.mu.Unlock()
	f.unsettled = append(f.unsettled, ds...)
	return nil
}

// splitForeign takes the tasks of other nodes' hosts out of ds.
func (f *Frontier) splitForeign(ds []crawl.Delivery) (own, foreign []crawl.Delivery) {
	if f.deps.Ring == nil {
		return ds, nil
	}
	for _, d := range ds {
		if f.place(d.Task.URL).Node == "" {
			own = append(own, d)
		} else {
			foreign = append(foreign, d)
		}
	}
	return own, foreign
}

// refresh reads again the records of hosts that became this node's after their records were read. It is called for ready hosts.
func (f *Frontier) refresh(ctx context.Context, choices []choice, _ time.Time) error {
	stale := map[string]crawl.Host{}
	for i := range choices {
		if c := &choices[i]; c.refresh {
			stale[c.host.rec.Key] = crawl.Host{}
		}
	}
	if err := f.readRecords(ctx, stale); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range choices {
		if c := &choices[i]; c.refresh {
			h := c.host
			addr := h.rec.Addr
			h.rec = stale[h.rec.Key]
			h.rec.LastContact = later(h.rec.LastContact, later(c.place.Since, f.resumedAt))
			if addr.IsValid() {
				h.rec.Addr = addr // its unit goes by it
			}
			h.since, h.dirty = c.place.Since, false
			f.newcomers.note(h, answers(&h.rec))
			f.newcomers.regrade(h)
		}
	}
	return nil
}

// InFlight counts the leases under way of each virtual node.
func (f *Frontier) InFlight() map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := make(map[int]int)
	for _, l := range f.inflight {
		n[l.vnode]++
	}
	return n
}

// Unsent reports whether a lease was decided on that the bus has not taken yet.
func (f *Frontier) Unsent() bool { return f.unsaid.Load() }

// Flush stores the records of all hosts that are newer than what is stored. A host of which nothing is in flight has nothing newer afterwards.
func (f *Frontier) Flush(ctx context.Context) error {
	f.storing.Lock()
	defer f.storing.Unlock()
	f.mu.Lock()
	recs := f.leavingRecords()
	for _, h := range f.hosts {
		if h.dirty {
			recs = append(recs, clone(h.rec))
		}
	}
	f.mu.Unlock()
	if err := f.putRecords(ctx, recs); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range recs {
		if h := f.hosts[recs[i].Key]; h != nil && h.rec.Requests == recs[i].Requests {
			h.dirty = false
		}
	}
	return nil
}

// Queue queues tasks that may be queued already: what the ledger holds open, and robots.txt files whose links were lost.
func (f *Frontier) Queue(ctx context.Context, tasks ...crawl.Task) error {
	return f.enqueue(ctx, true, tasks...)
}

// SetPages tells how many pages of a job have been fetched, by all nodes.
func (f *Frontier) SetPages(id crawl.JobID, pages int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs[id]; js != nil && js.pages != int(pages) {
		js.pages = int(pages)
		f.retrieve()
		f.signal()
	}
}
