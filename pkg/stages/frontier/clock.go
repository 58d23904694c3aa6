package frontier

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// apply moves the host's clocks by an outcome, and reports whether its record must be stored at once. A rest of no more
// than leastGap need not be, because after a restart every job's delay starts anew. A failure that is ours is not the
// host's.
func (hs *hosts) apply(h *host, out *crawl.Outcome, j *crawl.Job, now time.Time, ours bool) (urgent bool) {
	r, least := &h.rec, hs.jobs.leastGap(h)
	h.raiseCrawlDelay(out, j, now)
	if out.Contacted() {
		r.Requests++
		r.LastContact = later(r.LastContact, out.Ended)
		took := j.Politeness.Counts(out.Ended.Sub(out.Started), h.crawlDelay(j), h.links)
		urgent = hs.restFor(h, j, crawl.Rest{Ended: out.Ended, Took: took}) > least
	}
	if out.Verdict == crawl.VerdictInterrupted {
		r.LastContact = later(r.LastContact, now) // it may have been contacted
	}
	if out.Addr.IsValid() && anybodys(out, j) {
		r.Addr = out.Addr
	}
	h.dirty = h.dirty || h.gap(j) > 0
	switch {
	case unknownRules(out):
		h.expireOrigin(j.RulesOf(out.Task.URL), now)
	case ours:
		h.rest(now.Add(retryDelay(j, 1)))
	case networkFailure(out):
		urgent = true
		if way := j.Network.Way(out.Task.URL); way != r.FailedBy {
			r.FailedBy, r.Failures = way, 0
		}
		r.Failures++
		h.rest(now.Add(min(retryDelay(j, r.Failures), maxFailureRest)))
	case out.Status != 0:
		urgent = urgent || r.Failures > 0
		r.Failures = 0
	}
	if out.Slow {
		hs.slow(h, out, j, now)
	}
	return urgent || out.Slow
}

// anybodys reports whether the address that answered is that of the host for everybody. One that a job names itself
// (network.resolve) may be another server, to which requests of other jobs, or of the job's next revision, must not go.
func anybodys(out *crawl.Outcome, j *crawl.Job) bool {
	return out.Task.JobEpoch() == crawl.EpochOf(j.Epoch) && len(j.Network.Named(out.Task.URL)) == 0
}

// maxFailureRest bounds the rest of a host that cannot be reached.
const maxFailureRest = 5 * time.Minute

// unknownRules reports that the fetcher did not ask for the page because the rules of its origin had just run out.
func unknownRules(out *crawl.Outcome) bool {
	return out.Verdict == crawl.VerdictRetry && out.Reason == crawl.ReasonRobots && !out.Contacted()
}

func networkFailure(out *crawl.Outcome) bool {
	return out.Status == 0 && (out.Verdict == crawl.VerdictRetry || out.Verdict == crawl.VerdictFailed)
}

// rest keeps the host from being contacted before t.
func (h *host) rest(t time.Time) { h.rec.Next = later(h.rec.Next, t) }

// slow gives the host the rest it asked for: what Retry-After says, else a minute doubling to a day with 10 % jitter,
// starting small again after a quiet time. An internal error (500) without Retry-After only doubles the delay.
func (hs *hosts) slow(h *host, out *crawl.Outcome, j *crawl.Job, now time.Time) {
	r, p := &h.rec, &j.Retry
	if !r.SlowedAt.IsZero() && now.Sub(r.SlowedAt) > p.Forgive.D()+r.Backoff {
		r.Backoff = 0
	}
	r.SlowedAt = now
	switch {
	case out.RetryAfter > 0:
		h.rest(now.Add(min(out.RetryAfter, p.SlowMax.D())))
	case out.Status == 500:
		hs.restFor(h, j, crawl.Rest{Ended: now, Gaps: 2})
	default:
		r.Backoff = min(max(2*r.Backoff, p.SlowMin.D()), p.SlowMax.D())
		h.rest(now.Add(time.Duration(float64(r.Backoff) * (0.95 + 0.1*rand.Float64()))))
	}
}

func clone(rec crawl.Host) crawl.Host {
	rec.Origins = slices.Clone(rec.Origins)
	return rec
}
