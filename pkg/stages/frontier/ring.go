package frontier

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Ring tells a frontier which hosts are its own. It answers from memory and at once. When an answer changes, the owner
// of the ring calls [Frontier.Wake].
type Ring interface {
	Place(u weburl.URL) Place
}

// Place is what a node may do with a URL.
type Place struct {
	Node  string // the owner; empty: this node
	Lease bool   // this node may contact the host now
	// Since is from when this node may: what others asked of the host ended before, and what they stored about it was
	// stored before.
	Since time.Time
	// Vnode groups the hosts that move together.
	Vnode int
	// Factor is by what the delays of the job are multiplied, at least 1: as many nodes ask the host.
	Factor int
	Tenure uint64 // goes into the crawl.Fetch of a lease
}

// alone is the ring of a node without one: every URL is its own.
type alone struct{}

// Place implements Ring.
func (alone) Place(weburl.URL) Place { return Place{Lease: true, Factor: 1} }

// duties are what a frontier owes the other nodes: what is theirs goes on to them.
type duties struct{ ring Ring }

func newDuties(ring Ring) duties { return duties{cmp.Or[Ring](ring, alone{})} }

// place is what this node may do with a URL.
func (d duties) place(u weburl.URL) Place { return d.ring.Place(u) }

// owns reports whether a URL is this node's.
func (d duties) owns(u weburl.URL) bool { return d.place(u).Node == "" }

// Wake makes the dispatcher look again: the ring has changed.
func (f *Frontier) Wake() {
	f.book.RingChanged()
	f.mu.Lock()
	f.guests.tell()
	f.mu.Unlock()
	f.signal()
}

const (
	// holdPause is how long a host whose virtual node is on its way waits before it is looked at again.
	holdPause = 250 * time.Millisecond
	// awayPause is how long tasks wait whose owner's broker is out of reach.
	awayPause = 10 * time.Second
)

// byOwner tells this node's tasks from those of others, which it marks: their owner may have them from the ledger
// already.
func (d duties) byOwner(tasks []crawl.Task) (own []crawl.Task, others []crawl.Event) {
	var nodes []string
	own, foreign := split(tasks, func(t *crawl.Task) bool {
		node := d.place(t.URL).Node
		if node != "" {
			nodes = append(nodes, node)
		}
		return node == ""
	})
	events := make(map[string]*crawl.Fresh, len(nodes))
	for i, t := range foreign {
		node := nodes[i]
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

// tellOwner passes the outcome of a robots.txt on to the node that owns the origin that waits for it.
func (d duties) tellOwner(r *result) []crawl.Event {
	if r.gone || r.Task.Kind != crawl.KindRobots || r.Task.For == "" {
		return nil
	}
	u, err := weburl.Parse(r.Task.For)
	if err != nil {
		return nil
	}
	told := *r.came
	if told.Node = d.place(u).Node; told.Node == "" {
		return nil
	}
	return []crawl.Event{&told}
}

// sendAway sends tasks of other nodes' hosts to their owners and settles them. Where an owner's broker is out of reach
// its tasks wait in a queue of retries; nothing else waits for them.
func (dp *dispatcher) sendAway(ctx context.Context, ds []crawl.Delivery, now time.Time) error {
	own, others := dp.duties.byOwner(tasksIn(ds)) // the ring may have changed since the last look
	var stay []crawl.Task
	for _, e := range others {
		fresh := e.(*crawl.Fresh)
		id := fresh.Tasks[0].ID().Child("forward", len(fresh.Tasks))
		if err := dp.deps.Bus.Publish(ctx, bus.Message{ID: id, Event: e}); err != nil {
			dp.deps.Log.Debug("tasks of another node wait", "node", fresh.Node, "tasks", len(fresh.Tasks), "error", err)
			stay = append(stay, fresh.Tasks...)
		}
	}
	if err := dp.enqueue(ctx, true, own...); err != nil {
		return err
	}
	if err := dp.delay(ctx, stay, awayPause, now); err != nil {
		return fmt.Errorf("frontier: tasks of other nodes: %w", err)
	}
	dp.requeued(ds)
	return nil
}

// refresh reads again the records of hosts that became this node's after their records were read. It is called for
// ready hosts.
func (dp *dispatcher) refresh(ctx context.Context, choices []choice) error {
	var stale []*choice
	var keys []string
	for i := range choices {
		if c := &choices[i]; c.refresh {
			stale, keys = append(stale, c), append(keys, c.host.rec.Key)
		}
	}
	recs, err := dp.readRecords(ctx, keys)
	if err != nil {
		return err
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i, c := range stale {
		dp.hosts.replace(c.host, &record{recs[i], c.place.Since})
		dp.bench.newcomers.note(c.host, answers(&c.host.rec))
		dp.bench.newcomers.regrade(c.host)
	}
	return nil
}

// InFlight counts the leases under way of each virtual node, and the turns that guests have.
func (f *Frontier) InFlight() map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.leases.byVnode()
	for _, g := range f.guests.byKey {
		if g.claimed {
			n[g.vnode]++
		}
	}
	return n
}

// Owns reports whether the URL's host belongs to this node.
func (f *Frontier) Owns(u weburl.URL) bool { return f.duties.place(u).Node == "" }

// Unsent reports whether a lease was decided on that the bus has not taken yet.
func (f *Frontier) Unsent() bool { return f.run.out.unsent.Load() }

// Queue queues tasks that may be queued already: what the ledger holds open, and robots.txt files whose links were
// lost.
func (f *Frontier) Queue(ctx context.Context, tasks ...crawl.Task) error {
	return f.enqueue(ctx, true, tasks...)
}
