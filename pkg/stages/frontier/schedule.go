package frontier

import (
	"container/heap"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// schedule holds the active hosts in the order in which they may be contacted. It is a heap of units, each a heap of
// hosts: a unit is what shares a politeness clock, an address or a single host. It does no input or output.
type schedule struct {
	units unitHeap
	byKey map[string]*unit // by address; units of single hosts are not listed
	empty int              // units in byKey without hosts: their clocks still run, or ran when their last host left
}

// unit is a group of hosts with a clock of their own besides the hosts' clocks.
type unit struct {
	key    string
	shared bool      // hosts share an address: one request at once, next holds for all
	next   time.Time // no host of the unit may be contacted earlier
	ended  time.Time // the request after which that holds, for the job by
	by     crawl.JobID
	busy   int
	guest  bool // one of the requests is, or will be, a guest's
	size   int  // hosts that belong to it, waiting or not
	hosts  hostHeap
	index  int // in schedule.units; -1: not there
	ready  time.Time
}

func newSchedule() *schedule { return &schedule{byKey: map[string]*unit{}} }

// join makes h a member of the unit with the key, or of one of its own when key is empty.
func (w *schedule) join(h *host, key string) {
	u := w.byKey[key]
	switch {
	case key == "":
		u = &unit{index: -1}
	case u == nil:
		u = &unit{key: key, shared: true, index: -1}
		w.byKey[key] = u
	case u.size == 0:
		w.empty--
	}
	u.size++
	h.unit, h.index = u, -1
}

// leave takes h off the workbench. A unit stays listed while its clock runs: its address has to rest all the same. The
// units whose clocks have run out are forgotten when they are as many as the others.
func (w *schedule) leave(h *host, now time.Time) {
	w.remove(h)
	u := h.unit
	h.unit = nil
	if u.size--; u.size > 0 || !u.shared {
		return
	}
	if w.empty++; 2*w.empty > len(w.byKey) {
		w.sweep(now)
	}
}

// sweep forgets empty units whose clocks have run out.
func (w *schedule) sweep(now time.Time) {
	for k, u := range w.byKey {
		if u.size == 0 && !u.next.After(now) {
			delete(w.byKey, k)
			w.empty--
		}
	}
}

// move makes h, which is not waiting, a member of the unit with the key; until next no host of that unit is contacted.
func (w *schedule) move(h *host, key string, next, now time.Time) {
	w.leave(h, now)
	w.join(h, key)
	h.unit.next = later(h.unit.next, next)
	w.place(h.unit)
}

// add lets h wait until ready.
func (w *schedule) add(h *host, ready time.Time) {
	h.ready = ready
	if h.index >= 0 {
		heap.Fix(&h.unit.hosts, h.index)
	} else {
		heap.Push(&h.unit.hosts, h)
	}
	w.place(h.unit)
}

// remove makes h wait for nothing.
func (w *schedule) remove(h *host) {
	if h.unit == nil || h.index < 0 {
		return
	}
	heap.Remove(&h.unit.hosts, h.index)
	w.place(h.unit)
}

// place puts the unit where its clock and its first host say.
func (w *schedule) place(u *unit) {
	if len(u.hosts) == 0 || (u.shared && u.busy > 0) {
		if u.index >= 0 {
			heap.Remove(&w.units, u.index)
		}
		return
	}
	u.ready = u.hosts[0].ready
	if u.next.After(u.ready) {
		u.ready = u.next
	}
	if u.index >= 0 {
		heap.Fix(&w.units, u.index)
	} else {
		heap.Push(&w.units, u)
	}
}

// take removes and returns the host whose time came first, if it came by now; nil otherwise. The unit is busy until
// done.
func (w *schedule) take(now time.Time) *host {
	if len(w.units) == 0 || w.units[0].ready.After(now) {
		return nil
	}
	u := w.units[0]
	h := heap.Pop(&u.hosts).(*host)
	u.busy++
	w.place(u)
	return h
}

// done notes that a request to the unit ended; no other starts before next.
func (w *schedule) done(u *unit, next time.Time) {
	u.busy--
	if u.shared && next.After(u.next) {
		u.next = next
	}
	w.place(u)
}

// restsFor notes for which job, and after which request, no host of the unit is contacted before next.
func (u *unit) restsFor(job crawl.JobID, ended, next time.Time) {
	if next.Equal(u.next) {
		u.by, u.ended = job, ended
	}
}

// reckon makes the rests that a job gave to addresses end d after the requests.
func (w *schedule) reckon(job crawl.JobID, d time.Duration) {
	for _, u := range w.byKey {
		if u.by == job && !u.ended.IsZero() {
			u.next = u.ended.Add(d)
			w.place(u)
		}
	}
}

// due returns when the first host may be contacted; ok is false where none waits.
func (w *schedule) due() (at time.Time, ok bool) {
	if len(w.units) == 0 {
		return time.Time{}, false
	}
	return w.units[0].ready, true
}

type unitHeap []*unit

func (q unitHeap) Len() int           { return len(q) }
func (q unitHeap) Less(i, j int) bool { return q[i].ready.Before(q[j].ready) }
func (q unitHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].index = i; q[j].index = j }
func (q *unitHeap) Push(x any)        { u := x.(*unit); u.index = len(*q); *q = append(*q, u) }
func (q *unitHeap) Pop() any {
	old := *q
	u := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	u.index = -1
	return u
}

type hostHeap []*host

func (q hostHeap) Len() int           { return len(q) }
func (q hostHeap) Less(i, j int) bool { return q[i].ready.Before(q[j].ready) }
func (q hostHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].index = i; q[j].index = j }
func (q *hostHeap) Push(x any)        { h := x.(*host); h.index = len(*q); *q = append(*q, h) }
func (q *hostHeap) Pop() any {
	old := *q
	h := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	h.index = -1
	return h
}
