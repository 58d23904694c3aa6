package frontier

import (
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// host is an active host: one that has tasks on the workbench or a lease under way.
type host struct {
	lane           // of the job whose turn it is
	others  []lane // of other jobs, in the order of their turns
	rec     crawl.Host
	dirty   bool // rec is newer than what is stored
	busy    int  // leases under way
	robots  map[string]*originState
	unit    *unit
	index   int       // in unit.hosts; -1: not there
	ready   time.Time // heap key
	since   time.Time // Place.Since when rec was read
	factor  int       // Place.Factor; 0 is 1
	foreign bool      // its tasks belong to another node
	links   int       // to it from other hosts, as far as its tasks tell; 0 where no job asks for them

	answers   int64 // requests that it answered
	slowed    bool  // its last request took long
	graded    grade // under which it is counted
	place     grade // under which its turn or its only lease counts
	domain    *domain
	turn      bool      // it is one of its domain's hosts that take turns
	turned    bool      // it had its turn, and leaves it to those that wait
	line      *line     // in which it waits for a place; nil: in none
	blocked   bool      // it is in jobState.blocked
	paced     bool      // it is in pace.hosts of a job
	outdone   bool      // it is in best.hosts of a job
	stranger  bool      // it is not active: it stands in for a record
	resolving bool      // its address is being looked up; it has no unit yet
	passed    time.Time // since when others are asked before it, because they promise more; zero: none are
}

// originState is a robots.txt on its way.
type originState struct {
	next      *crawl.Task // to be leased next: the first try, a retry, or a redirect within the host
	notBefore time.Time
	leased    bool
	waiting   time.Time // until when another host's answer is awaited, or the next try; zero: none is
	attempt   int       // of the request after that
}

// work reports whether the host has a task that the workbench can lease.
func (h *host) work() bool {
	return h.lane.work() || slices.ContainsFunc(h.others, func(l lane) bool { return l.work() })
}

// idle reports whether the host can leave the workbench. A robots.txt that is wanted but not leased does not keep it:
// the next task that needs the file asks for it again.
func (h *host) idle() bool { return !h.work() && h.busy == 0 && !h.resolving }

// head returns the host's next task; nil where that lies in its back queue.
func (h *host) head() *crawl.Task {
	if len(h.buf) == 0 {
		return nil
	}
	return &h.buf[0].Task
}

// origin returns what is known of the origin's robots.txt; nil: nothing, or nothing that holds at now.
func (h *host) origin(name string, now time.Time) *crawl.Origin {
	for i := range h.rec.Origins {
		if o := &h.rec.Origins[i]; o.Name == name && o.Expires.After(now) {
			return o
		}
	}
	return nil
}

// maxOrigins is of how many robots.txt files the lifetime is remembered: a host has two origins, and each may have
// another file for jobs that name its server.
const maxOrigins = 8

// setOrigin notes the rules' lifetime. Of too many the oldest goes.
func (h *host) setOrigin(o crawl.Origin) {
	for i := range h.rec.Origins {
		if h.rec.Origins[i].Name == o.Name {
			h.rec.Origins[i] = o
			return
		}
	}
	h.rec.Origins = append(h.rec.Origins, o)
	if n := len(h.rec.Origins); n > maxOrigins {
		h.rec.Origins = h.rec.Origins[n-maxOrigins:]
	}
}

// raiseCrawlDelay heeds what robots.txt asks of the agent of a page's job, where the job that fetched the file has
// another agent. The longest counts.
func (h *host) raiseCrawlDelay(out *crawl.Outcome, j *crawl.Job, now time.Time) {
	if out.CrawlDelay <= 0 {
		return
	}
	if o := h.origin(j.RulesOf(out.Task.URL), now); o != nil {
		o.CrawlDelay = max(o.CrawlDelay, out.CrawlDelay)
	}
}

// expireOrigin makes the origin's robots.txt be fetched again. Its Crawl-delay holds until then.
func (h *host) expireOrigin(name string, now time.Time) {
	if o := h.origin(name, now); o != nil {
		o.Expires, h.dirty = now, true // also where no delay has the record stored: the host may leave memory meanwhile
	}
}

// dismissal is why a task is concluded without a fetch.
type dismissal struct {
	verdict crawl.Verdict
	reason  string
	detail  string
}

// dismissal says why a task of job j is not to be fetched; nil: it is. A robots.txt is always tried.
func (h *host) dismissal(task *crawl.Task, j *crawl.Job, now time.Time) *dismissal {
	if task.Kind == crawl.KindRobots {
		return nil
	}
	if d, most := h.crawlDelay(j), j.Politeness.MaxCrawlDelay.D(); d > most {
		return &dismissal{crawl.VerdictBlocked, crawl.ReasonCrawlDelay, fmt.Sprintf(
			"robots.txt asks for %v between requests, more than politeness.max_crawl_delay (%v)", d, most)}
	}
	if h.down(task, j, now) {
		return &dismissal{crawl.VerdictFailed, crawl.ReasonHostDown,
			fmt.Sprintf("the host failed %d times in a row", h.rec.Failures)}
	}
	if task.Kind == crawl.KindResource && h.silent(task, j, now) {
		return &dismissal{crawl.VerdictFailed, crawl.ReasonHostDown,
			fmt.Sprintf("the host never answered, %d times in a row: pages are rendered without what lies there",
				h.rec.Failures)}
	}
	return nil
}

// down reports whether the host failed so often in a row that its tasks are given up. After the forgiving time it gets
// another chance.
func (h *host) down(task *crawl.Task, j *crawl.Job, now time.Time) bool {
	return h.rec.Failures >= 2*(j.Retry.Max+1) && now.Before(h.rec.Next.Add(j.Retry.Forgive.D())) && h.failedBy(task, j)
}

// failedBy reports whether the host failed by the way that the job goes to it. Another job, or an earlier revision, may
// go another: to a server that is down (network.resolve), by IPv6, without a proxy.
func (h *host) failedBy(task *crawl.Task, j *crawl.Job) bool {
	return h.rec.FailedBy == j.Network.Way(task.URL)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
