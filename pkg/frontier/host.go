package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// host is an active host: one that has tasks on the workbench or a lease under way.
type host struct {
	rec     crawl.Host
	queue   string           // its back queue; empty while all its tasks are in buf
	backlog int64            // tasks in the back queue that are not in buf
	buf     []crawl.Delivery // the next tasks, unsettled
	busy    int              // leases under way
	took    time.Duration    // the last download
	robots  map[string]*originState
	unit    *unit
	index   int       // in unit.hosts; -1: not there
	ready   time.Time // heap key

	blocked   bool // it is in Frontier.blocked
	resolving bool // its address is being looked up; it has no unit yet
}

// originState is a robots.txt on its way.
type originState struct {
	next      *crawl.Task // to be leased next: the first try, a retry, or a redirect within the host
	notBefore time.Time
	leased    bool
	waiting   time.Time // until when another host's answer is awaited; zero: none is
}

// work reports whether the host has a task that the workbench can lease.
func (h *host) work() bool { return len(h.buf) > 0 || h.backlog > 0 }

// idle reports whether nothing ties the host to the workbench.
func (h *host) idle() bool { return !h.work() && h.busy == 0 && len(h.robots) == 0 }

// origin returns what is known of the origin's robots.txt; nil: nothing, or nothing that holds at now.
func (h *host) origin(name string, now time.Time) *crawl.Origin {
	for i := range h.rec.Origins {
		if o := &h.rec.Origins[i]; o.Name == name && o.Expires.After(now) {
			return o
		}
	}
	return nil
}

// setOrigin notes the rules' lifetime. A host has two origins at most, so the oldest of more goes.
func (h *host) setOrigin(o crawl.Origin) {
	for i := range h.rec.Origins {
		if h.rec.Origins[i].Name == o.Name {
			h.rec.Origins[i] = o
			return
		}
	}
	h.rec.Origins = append(h.rec.Origins, o)
	if n := len(h.rec.Origins); n > 2 {
		h.rec.Origins = h.rec.Origins[n-2:]
	}
}

// gap is the time to keep between the end of a request and the start of the next, for a task of job j:
// max(delay, Crawl-delay, factor × last download), as in Mercator. With a delay of 0 only a Crawl-delay is kept.
func (h *host) gap(j *crawl.Job) time.Duration {
	p := &j.Politeness
	d := p.Delay.D()
	if d > 0 {
		adaptive := time.Duration(p.DownloadFactor * float64(h.took))
		d = max(d, min(adaptive, p.MaxAdaptive.D()))
	}
	if !j.IgnoreRobots {
		for i := range h.rec.Origins {
			d = max(d, h.rec.Origins[i].CrawlDelay)
		}
	}
	return d
}

// parkedFor reports the Crawl-delay of the host if it asks for more patience than the job has.
func (h *host) parkedFor(j *crawl.Job) (time.Duration, bool) {
	if j.IgnoreRobots {
		return 0, false
	}
	for i := range h.rec.Origins {
		if d := h.rec.Origins[i].CrawlDelay; d > j.Politeness.MaxCrawlDelay.D() {
			return d, true
		}
	}
	return 0, false
}

// earliest is when a request for job j may start.
func (h *host) earliest(j *crawl.Job) time.Time {
	t := h.rec.Next
	if !h.rec.LastContact.IsZero() {
		if u := h.rec.LastContact.Add(h.gap(j)); u.After(t) {
			t = u
		}
	}
	return t
}
