package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// A host with robotsState has an origin whose robots.txt is not known: see originState.

// robotsFirst reports whether the task may be leased now; where it may not, because the rules of its origin are not known,
// it returns the robots task to lease instead, or nil while there is none to lease yet.
func (f *Frontier) robotsFirst(h *host, task *crawl.Task, now time.Time) (robots *crawl.Task, ready bool) {
	name := task.URL.Origin()
	if h.origin(name, now) != nil {
		return nil, true
	}
	st := h.robots[name]
	if st == nil || (!st.leased && st.next == nil && !st.waiting.After(now)) {
		first, err := robotsTask(task, name)
		if err != nil {
			return nil, true // no such origin can exist; the fetcher will say so
		}
		st = &originState{next: first}
		if h.robots == nil {
			h.robots = map[string]*originState{}
		}
		h.robots[name] = st
	}
	if st.leased || st.next == nil || st.notBefore.After(now) {
		return nil, false
	}
	st.leased = true
	f.inflight[st.next.ID()] = lease{host: h, task: *st.next}
	return st.next, false
}

// robotsTask is the first request for an origin's robots.txt, on behalf of a task.
func robotsTask(task *crawl.Task, origin string) (*crawl.Task, error) {
	u, err := weburl.Parse(origin + "/robots.txt")
	if err != nil {
		return nil, err
	}
	return &crawl.Task{Job: task.Job, URL: u, Kind: crawl.KindRobots, For: origin, Depth: task.Depth, Seed: task.Seed,
		Priority: crawl.MaxPriority}, nil
}

// robotsWait says how long the host's next task waits for a robots.txt: until a time, or (hold) until one arrives.
func (h *host) robotsWait(task *crawl.Task, j *crawl.Job, now time.Time) (at time.Time, hold bool) {
	if j.IgnoreRobots || task.Kind == crawl.KindRobots || len(h.robots) == 0 {
		return at, false
	}
	name := task.URL.Origin()
	st := h.robots[name]
	if st == nil || h.origin(name, now) != nil {
		return at, false
	}
	if st.leased {
		return at, true
	}
	if st.waiting.After(now) {
		return st.waiting, false
	}
	return st.notBefore, false
}

// robotsFailed takes back the lease of a robots task that was never published.
func (f *Frontier) robotsFailed(h *host, task *crawl.Task) {
	if st := h.robots[task.For]; st != nil {
		st.leased = false
	}
}

// robotsOutcome notes what a robots task brought: rules, a redirect, or a failure. It returns a task for the front queues
// when the rules are to be had from another host. h is the host of the origin; nil if that is not active.
func (f *Frontier) robotsOutcome(h *host, out *crawl.Outcome, j *crawl.Job, now time.Time) (elsewhere *crawl.Task) {
	origin := out.Task.For
	r := out.Robots
	switch {
	case r != nil && !r.Redirect.IsZero():
		next := out.Task
		next.URL, next.Attempt, next.Redirects, next.Referrer = r.Redirect, 0, next.Redirects+1, out.Task.URL
		if h != nil && next.URL.HostKey() == h.rec.Key {
			f.setRobots(h, origin, &originState{next: &next})
			return nil
		}
		if h != nil {
			f.setRobots(h, origin, &originState{waiting: now.Add(f.cfg.RobotsPatience)})
		}
		return &next
	case r != nil && h != nil:
		delete(h.robots, origin)
		h.setOrigin(crawl.Origin{Name: origin, Expires: r.Expires, CrawlDelay: r.CrawlDelay})
	case h != nil: // failed for now, or interrupted
		next := out.Task
		st := &originState{next: &next}
		if out.Verdict == crawl.VerdictRetry {
			next.Attempt++
			st.notBefore = now.Add(retryDelay(j, next.Attempt))
		}
		if next.URL.HostKey() != h.rec.Key {
			st = &originState{} // the other host failed: begin again
		}
		f.setRobots(h, origin, st)
	}
	return nil
}

func (f *Frontier) setRobots(h *host, origin string, st *originState) {
	if h.robots == nil {
		h.robots = map[string]*originState{}
	}
	h.robots[origin] = st
}
