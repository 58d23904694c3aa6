package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// gap is the time to keep between the end of any request and the start of one of job j: the job's delay, or a longer
// Crawl-delay.
func (h *host) gap(j *crawl.Job) time.Duration {
	return h.times(max(j.Politeness.Delay.D(), h.crawlDelay(j)))
}

// times is a delay as often as there are nodes that ask the host.
func (h *host) times(d time.Duration) time.Duration { return time.Duration(max(h.factor, 1)) * d }

// crawlDelay is the longest Crawl-delay of the host's origins that job j heeds: one that names servers itself heeds
// what any of them says.
func (h *host) crawlDelay(j *crawl.Job) time.Duration {
	if j.IgnoreRobots {
		return 0
	}
	return h.longestCrawlDelay(len(j.Network.Resolve) > 0)
}

// longestCrawlDelay is that of the servers that everybody asks, and of those that jobs name.
func (h *host) longestCrawlDelay(named bool) (d time.Duration) {
	for i := range h.rec.Origins {
		if o := &h.rec.Origins[i]; named || crawl.OriginOf(o.Name) == o.Name {
			d = max(d, o.CrawlDelay)
		}
	}
	return d
}

// earliest is when a request for job j may start.
func (hs *hosts) earliest(h *host, j *crawl.Job) time.Time {
	t := later(h.rec.Next, hs.restEnd(h))
	if !h.rec.LastContact.IsZero() {
		t = later(t, h.rec.LastContact.Add(h.gap(j)))
	}
	if len(hs.guests.byKey) > 0 {
		t = later(t, hs.guests.earliest(h.rec.Key, h.gap(j)))
	}
	return t
}

// restEnd is when the rest ends that the job of the last request gives the host. It goes by the job as it is now: a
// delay that was raised by mistake binds no longer than it stands. Where the job is not known it is what it was then.
func (hs *hosts) restEnd(h *host) time.Time {
	r := &h.rec.Rest
	js := hs.jobs.of(r.Job)
	if js == nil || js.dead || r.Ended.IsZero() {
		return r.End()
	}
	return r.Ended.Add(r.By(js.job, h.gap(js.job)))
}

// restFor lets the host rest from all jobs after a request for job j, and returns for how long. Where it rests longer
// after an earlier one, of several that were under way, that stays.
func (hs *hosts) restFor(h *host, j *crawl.Job, r crawl.Rest) time.Duration {
	r.Job, r.Least = j.ID, r.By(j, h.gap(j))
	if r.Least > 0 && r.End().After(hs.restEnd(h)) {
		h.rec.Rest = r
	}
	return r.Least
}
