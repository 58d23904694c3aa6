package frontier

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// HostNow is an active host as the frontier sees it: one that has tasks on the workbench, or a lease.
type HostNow struct {
	Key      string
	Queued   int64 // tasks that wait on the workbench; those in front queues have no host yet
	InFlight int
	Held     bool      // by people
	Next     time.Time // when it may be asked; zero: unknown
	Why      Wait      // what it waits for
	Text     string    // the same for people
	Backoff  time.Duration
	Robots   string // ignored, unknown or rules
	Address  string // whose politeness it shares
}

// Wait is what a host waits for.
type Wait string

// What hosts wait for.
const (
	WaitActive     Wait = "active"      // a request is under way
	WaitDelay      Wait = "delay"       // the job's delay
	WaitCrawlDelay Wait = "crawl-delay" // what its robots.txt asks for
	WaitRetryAfter Wait = "retry-after" // what its server asked for
	WaitBackoff    Wait = "backoff"     // it failed, or was slow
	WaitRobots     Wait = "robots"      // its robots.txt
	WaitAddress    Wait = "address"     // another host on its address, or the look-up of it
	WaitHeld       Wait = "held"        // by people
	WaitJob        Wait = "budget"      // its job is held, or may fetch nothing more, or goes at a pace
	WaitBetter     Wait = "better"      // other hosts, whose pages promise more
	WaitWindow     Wait = "window"      // a place among the requests at once
	WaitTrouble    Wait = "trouble"     // no host answers: probably our own network is down
)

// Hosts returns the active hosts that have tasks or leases of a job; of all jobs where id is empty. It holds up the
// frontier for as long as that takes: some milliseconds for ten thousand hosts.
func (f *Frontier) Hosts(id crawl.JobID) []HostNow {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	flying := f.flying(id)
	out := make([]HostNow, 0, len(f.hosts.active))
	for _, h := range f.hosts.active {
		queued := h.queued(id)
		if queued == 0 && flying[h] == 0 {
			continue
		}
		n := HostNow{Key: h.rec.Key, Queued: queued, InFlight: flying[h], Held: f.hosts.held[h.rec.Key],
			Backoff: h.rec.Backoff}
		if h.rec.Addr.IsValid() {
			n.Address = h.rec.Addr.String()
		}
		f.tellWait(h, id, &n, now)
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b HostNow) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// HostCounts are how many hosts Hosts would return, and when the first of them may be asked.
type HostCounts struct {
	Active  int
	Waiting int       // without a request under way
	Due     time.Time // zero: nobody can tell
}

// CountHosts counts what Hosts would return, for those who ask each second: it makes no list and no texts.
func (f *Frontier) CountHosts(id crawl.JobID) (c HostCounts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	flying := f.flying(id)
	for _, h := range f.hosts.active {
		if flying[h] == 0 {
			if h.queued(id) == 0 {
				continue
			}
			c.Waiting++
		}
		c.Active++
		if next := f.nextOf(h, f.jobs.of(cmp.Or(id, h.job))); !next.IsZero() && (c.Due.IsZero() || next.Before(c.Due)) {
			c.Due = next
		}
	}
	return c
}

// flying counts the leases of a job by their hosts; of all jobs where id is empty. mu is held.
func (f *Frontier) flying(id crawl.JobID) map[*host]int {
	n := map[*host]int{}
	for _, l := range f.leases.byID {
		if id == "" || l.task.Job == id {
			n[l.host]++
		}
	}
	return n
}

// nextOf is when a host may be asked for a job; zero: nobody can tell. mu is held.
func (f *Frontier) nextOf(h *host, js *jobState) (next time.Time) {
	if js == nil {
		return next
	}
	if next = f.hosts.earliest(h, js.job); h.unit != nil {
		next = later(next, h.unit.next)
	}
	return next
}

// queued counts the host's tasks of a job; of all jobs where id is empty.
func (h *host) queued(id crawl.JobID) (n int64) {
	h.eachLane(func(l *lane) {
		if id == "" || l.job == id {
			n += int64(len(l.buf)) + l.backlog
		}
	})
	return n
}

// tellWait says what the host waits for. mu is held.
func (f *Frontier) tellWait(h *host, id crawl.JobID, n *HostNow, now time.Time) {
	task, js := h.head(), f.jobs.of(cmp.Or(id, h.job))
	if task != nil && id != "" && task.Job != id {
		task = nil // another job's turn
	}
	if n.Next = f.nextOf(h, js); js != nil {
		n.Robots = h.robotsState(js.job, now)
	}
	if n.Why, n.Text = f.waitOfJob(h, js, n.Held); n.Why == "" {
		n.Why, n.Text = f.waitOfHost(h, task, js, now)
	}
}

// waitOfJob returns a reason to wait that has nothing to do with time; "" if there is none.
func (f *Frontier) waitOfJob(h *host, js *jobState, held bool) (why Wait, text string) {
	switch {
	case held:
		return WaitHeld, "it is held: release it to continue"
	case h.busy > 0:
		return WaitActive, "a request is under way"
	case js != nil && js.held:
		return WaitJob, "the execution is paused or stopped"
	case js != nil && js.full():
		return WaitJob, fmt.Sprintf("the execution may fetch nothing more: %s", cmp.Or(js.bound, "max_pages"))
	case f.trouble.on:
		return WaitTrouble, "no host answers: the network of this machine is being checked"
	}
	return "", ""
}

// waitOfHost returns which rest, answer or turn the host waits for.
func (f *Frontier) waitOfHost(h *host, task *crawl.Task, js *jobState, now time.Time) (why Wait, text string) {
	switch {
	case h.resolving:
		return WaitAddress, "its address is being looked up"
	case h.rec.Next.After(now) && h.rec.Failures > 0:
		return WaitBackoff, fmt.Sprintf("it failed %d times in a row", h.rec.Failures)
	case h.rec.Next.After(now) && h.rec.Backoff > 0:
		return WaitBackoff, "its server asked for fewer requests"
	case h.rec.Next.After(now):
		return WaitRetryAfter, "its server said when to come back (Retry-After)"
	case js != nil && task != nil && f.waitsForRobots(h, task, js, now):
		return WaitRobots, "its robots.txt is on its way"
	case js != nil && f.hosts.earliest(h, js.job).After(now) && h.crawlDelay(js.job) > js.job.Politeness.Delay.D():
		return WaitCrawlDelay, fmt.Sprintf("its robots.txt asks for %v between requests", h.crawlDelay(js.job))
	case js != nil && f.hosts.earliest(h, js.job).After(now):
		return WaitDelay, "the delay between two requests"
	case h.unit != nil && h.unit.shared && (h.unit.busy > 0 || h.unit.next.After(now)):
		return WaitAddress, "another host on its address is asked"
	case h.outdone:
		return WaitBetter, "other hosts have pages that promise more"
	case h.paced:
		return WaitJob, "the execution goes at the pace that was set"
	}
	return WaitWindow, "a place among the requests that are under way at once"
}

// waitsForRobots reports whether the host's next task waits for a robots.txt.
func (f *Frontier) waitsForRobots(h *host, task *crawl.Task, js *jobState, now time.Time) bool {
	at, hold := f.robots.wait(h, task, js.job, now)
	return hold || at.After(now)
}

// robotsState is what is known of the host's robots.txt.
func (h *host) robotsState(j *crawl.Job, now time.Time) string {
	if j.IgnoreRobots {
		return "ignored"
	}
	for i := range h.rec.Origins {
		if h.rec.Origins[i].Expires.After(now) {
			return "rules"
		}
	}
	return "unknown"
}
