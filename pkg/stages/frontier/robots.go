package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// robotsDesk sees to it that the robots.txt of an origin is fetched before its first page. What it knows of an origin
// lies with the host (host.robots, and host.rec.Origins once the rules are known). Frontier.mu guards it.
type robotsDesk struct {
	leases   *leases
	patience time.Duration // Config.RobotsPatience
}

// rulesKnown reports whether the task can be leased as far as robots.txt is concerned.
func (h *host) rulesKnown(task *crawl.Task, j *crawl.Job, now time.Time) bool {
	return j.IgnoreRobots || task.Kind == crawl.KindRobots || h.origin(j.RulesOf(task.URL), now) != nil
}

// next returns the robots task to lease before the task, whose rules are not known; nil while there is none to lease
// yet. ok is false where no such origin can exist: the fetcher will say so.
func (d robotsDesk) next(h *host, task *crawl.Task, j *crawl.Job, now time.Time) (robots *crawl.Task, ok bool) {
	name := j.RulesOf(task.URL)
	st := h.robots[name]
	if st == nil || (!st.leased && st.next == nil && !st.waiting.After(now)) {
		first, err := robotsTask(task, name)
		if err != nil {
			return nil, false
		}
		if st != nil {
			first.Attempt = st.attempt
		}
		st = &originState{next: first}
		h.setRobots(name, st)
	}
	if st.leased || st.next == nil || st.notBefore.After(now) || d.leases.at(h, st.next) {
		return nil, true
	}
	if st.next.Job != task.Job { // it failed for another job, which may be paused or at another revision: this one asks
		asked := *st.next
		asked.Job = task.Job
		st.next = &asked
	}
	return st.next, true
}

// robotsTask is the first request for a robots.txt (see crawl.Job.RulesOf), on behalf of a task.
func robotsTask(task *crawl.Task, name string) (*crawl.Task, error) {
	u, err := weburl.Parse(crawl.OriginOf(name) + "/robots.txt")
	if err != nil {
		return nil, err
	}
	return &crawl.Task{Job: task.Job, URL: u, Kind: crawl.KindRobots, For: name, Depth: task.Depth, Seed: task.Seed,
		Priority: crawl.MaxPriority}, nil
}

// wait says how long the host's next task waits for a robots.txt: until a time, or (hold) until an outcome of the
// host's own comes.
func (d robotsDesk) wait(h *host, task *crawl.Task, j *crawl.Job, now time.Time) (at time.Time, hold bool) {
	if task.Kind == crawl.KindRobots {
		return at, d.leases.at(h, task)
	}
	st := h.robots[j.RulesOf(task.URL)]
	if st == nil || h.rulesKnown(task, j, now) {
		return at, false
	}
	if st.leased || (st.next != nil && d.leases.at(h, st.next)) {
		return at, true
	}
	return later(st.waiting, st.notBefore), false
}

// outcome notes what a robots task brought: rules, a redirect, or a failure. It returns a task for the front queues
// when the rules are to be had from another host. h is the host of the origin; nil if that is not active.
func (d robotsDesk) outcome(h *host, out *crawl.Outcome, j *crawl.Job, now time.Time,
	ours bool) (elsewhere *crawl.Task) {
	origin, r := out.Task.For, out.Robots
	next := out.Task
	next.Lease = 0
	switch {
	case r != nil && !r.Redirect.IsZero():
		next.URL, next.Redirects, next.Referrer = r.Redirect, next.Redirects+1, out.Task.URL
		if h != nil && next.URL.HostKey() == h.rec.Key {
			h.setRobots(origin, &originState{next: &next})
			return nil
		}
		if h != nil {
			h.setRobots(origin, &originState{waiting: now.Add(d.patience), attempt: next.Attempt})
		}
		return &next
	case h == nil:
	case r != nil:
		delete(h.robots, origin)
		h.setOrigin(crawl.Origin{Name: origin, Expires: r.Expires, CrawlDelay: r.CrawlDelay})
	case next.URL.HostKey() != h.rec.Key:
		h.setRobots(origin, d.again(out, j, now, ours))
	case out.Verdict == crawl.VerdictInterrupted:
		h.setRobots(origin, &originState{next: &next})
	case ours:
		h.setRobots(origin, &originState{next: &next, notBefore: now.Add(delayAfter(out, j, 1))})
	default:
		next.Attempt++
		h.setRobots(origin, &originState{next: &next, notBefore: now.Add(delayAfter(out, j, next.Attempt))})
	}
	return nil
}

// again begins again at an origin whose rules another host was to give, and failed. The attempts of both are one count:
// where it ends, there are no rules to be had (the fetcher says so).
func (d robotsDesk) again(out *crawl.Outcome, j *crawl.Job, now time.Time, ours bool) *originState {
	switch attempt := out.Task.Attempt; {
	case out.Verdict == crawl.VerdictInterrupted:
		return &originState{attempt: attempt}
	case ours:
		return &originState{attempt: attempt, waiting: now.Add(delayAfter(out, j, 1))}
	default:
		return &originState{attempt: attempt + 1, waiting: now.Add(delayAfter(out, j, attempt+1))}
	}
}

// foreignRobots notes what another node's host said for an origin of this node's. The host that said it is no affair of
// this node; where a redirect leads on, the other node follows it.
func (o Outcomes) foreignRobots(ctx context.Context, r *result) error {
	if !r.foreign {
		return nil
	}
	r.over = true
	out := &r.Outcome
	o.f.mu.Lock()
	owner := o.f.hosts.of(originHost(out.Task.For))
	if owner == nil {
		o.f.mu.Unlock()
		return nil
	}
	_ = o.f.robots.outcome(owner, out, r.job, r.now, false)
	rec := clone(owner.rec)
	o.f.rejoin(owner, o.f.jobs.of(out.Task.Job), r.now)
	o.f.mu.Unlock()
	o.f.signal()
	if err := o.f.deps.Hosts.PutHosts(ctx, rec); err != nil {
		return fmt.Errorf("frontier: record of host %s: %w", rec.Key, err)
	}
	return nil
}

// StopWaiting lets hosts ask anew for a robots.txt that another host was to give: a node may have taken the request
// with it, and robots.txt files are in no ledger. Where the answer is on its way after all, two requests are made.
func (f *Frontier) StopWaiting() {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.hosts.active {
		for origin, st := range h.robots {
			if st.waiting.After(now) {
				delete(h.robots, origin)
				f.rejoin(h, nil, now)
			}
		}
	}
	f.signal()
}

func (h *host) setRobots(origin string, st *originState) {
	if h.robots == nil {
		h.robots = map[string]*originState{}
	}
	h.robots[origin] = st
}

// originHost is the host key of an origin; empty for none.
func originHost(origin string) string {
	if origin == "" {
		return ""
	}
	u, err := weburl.Parse(origin)
	if err != nil {
		return ""
	}
	return u.HostKey()
}
