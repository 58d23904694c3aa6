package frontier

import (
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// leases are the tasks that are under way. Frontier.mu guards it.
type leases struct {
	byID map[crawl.MessageID]*lease
	last int64 // number of the last lease
	// tracked asks the stages to pass on the links of every page, even an empty list, so that lost links can be
	// detected.
	tracked bool
	// again asks for it after the first visit of a page as well. A node on its own has noted by then that the links of
	// the page are claimed.
	again bool
}

// lease is a task on its way.
type lease struct {
	host   *host
	js     *jobState // of its life
	number int64
	vnode  int
	task   crawl.Task
	at     time.Time
	place  grade // of the window
	placed bool  // the page keeps a place in the budget besides: see places
}

func newLeases(tracked, again bool) leases {
	return leases{
		byID:    map[crawl.MessageID]*lease{},
		last:    rand.Int64N(1 << 62), // leases of another process have other numbers
		tracked: tracked,
		again:   again,
	}
}

// len is how many leases are under way.
func (ls *leases) len() int { return len(ls.byID) }

// of returns the lease of a task; nil: it is not under way.
func (ls *leases) of(id crawl.MessageID) *lease { return ls.byID[id] }

// at reports whether a lease with the task's id is under way at the host. One file may hold the rules of two
// origins: http redirects to https.
func (ls *leases) at(h *host, task *crawl.Task) bool { return h.busy > 0 && ls.byID[task.ID()] != nil }

// reserve notes the lease before it is published, for its outcome may be faster than Publish returns.
func (ls *leases) reserve(c *choice) {
	ls.last++
	task := &c.delivery.Task
	c.lease, task.Lease, task.Tracked, task.Epoch = true, ls.last, ls.tracked && (ls.again || task.Visit == 0),
		epochOf(c.js.job)
	l := &lease{host: c.host, js: c.js, number: ls.last, vnode: c.place.Vnode, task: *task, at: time.Now(),
		place: c.host.place, placed: c.js.places.has(task)}
	ls.byID[c.id] = l
	c.js.leases++
	if l.placed {
		c.js.places.leased++
	}
	switch {
	case counts(task):
		c.js.leased++
	case !c.fromBuf && task.Kind == crawl.KindRobots:
		c.host.robots[task.For].leased = true
	}
}

// counts reports whether a lease may bring a page more: a page that is visited again is counted.
func counts(t *crawl.Task) bool { return t.Kind == crawl.KindPage && t.Visit == 0 }

// release takes back what reserve noted.
func (ls *leases) release(c *choice) {
	c.lease = false
	c.js.pace.end()
	if l := ls.byID[c.id]; l != nil && l.placed {
		c.js.places.leased--
	}
	delete(ls.byID, c.id)
	switch task := &c.delivery.Task; {
	case counts(task):
		c.js.leased--
	case !c.fromBuf:
		if st := c.host.robots[task.For]; st != nil {
			st.leased = false
		}
	}
}

// end takes a lease that is under way off the books of its job.
func (ls *leases) end(id crawl.MessageID) *lease {
	l := ls.byID[id]
	delete(ls.byID, id)
	l.js.pace.end()
	if l.placed {
		l.js.places.leased--
	}
	if counts(&l.task) {
		l.js.leased--
	}
	return l
}

// leavePlace forgets that a page keeps its place in the budget of its job, and reports whether it did.
func (ls *leases) leavePlace(js *jobState, t *crawl.Task) bool {
	if !js.places.has(t) {
		return false
	}
	delete(js.places.kept, t.URL.Key())
	if l := ls.byID[t.ID()]; l != nil && l.js == js && l.placed {
		js.places.leased--
		l.placed = false
	}
	return true
}

// byVnode counts the leases of each virtual node.
func (ls *leases) byVnode() map[int]int {
	n := make(map[int]int)
	for _, l := range ls.byID {
		n[l.vnode]++
	}
	return n
}

// fetchSlack is how much longer than its limit a fetch may take: the body is stored, and the outcome sent.
const fetchSlack = 10 * time.Second

func longestFetch(l *crawl.Limits) time.Duration { return l.Total.D() + fetchSlack }

// overdue are the leases that a fetcher should have ended by now, whatever the host did.
func (ls *leases) overdue(jobs *jobs, now time.Time) (out []crawl.Task) {
	for _, l := range ls.byID {
		if js := jobs.of(l.task.Job); js != nil && now.Sub(l.at) > longestFetch(&js.job.Limits) {
			out = append(out, l.task)
		}
	}
	return out
}
