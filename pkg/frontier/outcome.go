package frontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Outcomes is the handler of frontier.outcome.
type Outcomes struct{ f *Frontier }

// Outcomes returns the handler of outcomes.
func (f *Frontier) Outcomes() Outcomes { return Outcomes{f} }

// Handle implements stage.Handler. First what must not be lost is stored: the outcome, the retry, the host's clock. Then
// the host is freed.
func (o Outcomes) Handle(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	f := o.f
	js, err := f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	result := *out
	if result.Verdict == crawl.VerdictRetry && result.Task.Kind != crawl.KindRobots &&
		result.Task.Attempt >= js.job.Retry.Max {
		result.Verdict = crawl.VerdictFailed
	}
	if err := f.record(ctx, &result, now); err != nil {
		return nil, err
	}
	if err := f.again(ctx, &result, js.job, now); err != nil {
		return nil, err
	}
	if err := f.moveClock(ctx, &result, js, now); err != nil {
		return nil, err
	}
	f.free(&result, js, now)
	return nil, nil
}

// record writes the attempt's line, and a final outcome into the ledger. A robots.txt is no URL of the ledger's.
func (f *Frontier) record(ctx context.Context, out *crawl.Outcome, now time.Time) error {
	t := &out.Task
	if out.Verdict.Final() && t.Kind != crawl.KindRobots {
		err := f.deps.Ledger.Finish(ctx, t.Job, crawl.Entry{Key: t.URL.Key(), State: crawl.StateDone, Verdict: out.Verdict,
			Kind: t.Kind, Status: out.Status, Reason: out.Reason, At: now, Attempts: t.Attempt + 1})
		if err != nil {
			return fmt.Errorf("frontier: outcome of %s: %w", t.URL, err)
		}
	}
	line := crawl.LogLine{At: out.Started, URL: t.URL, Kind: t.Kind, Verdict: out.Verdict, Status: out.Status,
		Reason: out.Reason, Detail: out.Detail, Bytes: out.Bytes, FirstByte: out.FirstByte, Attempt: t.Attempt + 1,
		Depth: t.Depth, ContentType: out.ContentType, Digest: out.Digest, Addr: out.Addr, Referrer: t.Referrer,
		Location: out.Location}
	if line.At.IsZero() {
		line.At = now
	}
	if out.Contacted() {
		line.Duration = out.Ended.Sub(out.Started)
	}
	if err := f.deps.Attempts.Append(ctx, line); err != nil {
		return fmt.Errorf("frontier: log line of %s: %w", t.URL, err)
	}
	return nil
}

// again queues the task once more where the attempt was not the last.
func (f *Frontier) again(ctx context.Context, out *crawl.Outcome, j *crawl.Job, now time.Time) error {
	t := out.Task
	switch {
	case t.Kind == crawl.KindRobots:
		return nil // robotsOutcome sees to it
	case out.Verdict == crawl.VerdictRetry:
		t.Attempt++
		t.NotBefore = now.Add(retryDelay(j, t.Attempt))
		return f.putAside(ctx, t)
	case out.Verdict == crawl.VerdictInterrupted:
		// The first delivery may have got as far as the outcome, but not all its messages: the URL's story is open again.
		if err := f.deps.Ledger.Reopen(ctx, t.Job, t.URL.Key()); err != nil {
			return fmt.Errorf("frontier: reopen %s: %w", t.URL, err)
		}
		t.Repeat = true
		return f.enqueue(ctx, t)
	}
	return nil
}

// moveClock notes in the host's record what the attempt means for the host, and stores the record where it matters.
func (f *Frontier) moveClock(ctx context.Context, out *crawl.Outcome, js *jobState, now time.Time) error {
	key := out.Task.URL.HostKey()
	stranger, err := f.stranger(ctx, key, now)
	if err != nil {
		return err
	}
	f.mu.Lock()
	h := f.hosts[key]
	if h == nil {
		h = stranger
	}
	notable := h.apply(out, js.job, now)
	var elsewhere *crawl.Task
	var owner *host
	if out.Task.Kind == crawl.KindRobots {
		if owner = f.hosts[originHost(out.Task.For)]; owner != nil || out.Robots != nil {
			elsewhere = f.robotsOutcome(owner, out, js.job, now)
		}
		notable = true
	}
	recs := []crawl.Host{clone(h.rec)}
	if owner != nil && owner != h {
		recs = append(recs, clone(owner.rec))
	}
	f.mu.Unlock()
	if notable {
		if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
			return fmt.Errorf("frontier: record of host %s: %w", key, err)
		}
	}
	if elsewhere != nil {
		return f.enqueue(ctx, *elsewhere)
	}
	return nil
}

// stranger returns a host that is not active, for the outcome of a lease from before a restart; nil if it is active.
func (f *Frontier) stranger(ctx context.Context, key string, now time.Time) (*host, error) {
	f.mu.Lock()
	active := f.hosts[key] != nil
	f.mu.Unlock()
	if active {
		return nil, nil
	}
	rec, found, err := f.deps.Hosts.Host(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("frontier: record of host %s: %w", key, err)
	}
	if !found {
		rec = crawl.Host{Key: key}
	}
	return &host{rec: rec, index: -1}, nil
}

// free ends the lease and lets the host wait for its next task.
func (f *Frontier) free(out *crawl.Outcome, js *jobState, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.signal()
	page := out.Task.Kind == crawl.KindPage
	id := out.Task.ID()
	l, known := f.inflight[id]
	if known {
		delete(f.inflight, id)
		if page {
			js.leased--
		}
	}
	if page && out.Verdict == crawl.VerdictDone && out.Status/100 == 2 {
		js.pages++
	}
	if known {
		l.host.busy--
		next := time.Time{}
		if out.Contacted() {
			next = out.Ended.Add(ipDelay(js.job).D())
		}
		f.bench.done(l.host.unit, next)
		f.rejoin(l.host, js, now)
	}
	if owner := f.hosts[originHost(out.Task.For)]; out.Task.Kind == crawl.KindRobots && owner != nil {
		f.rejoin(owner, js, now)
	}
	if len(f.blocked) > 0 && !js.full() {
		f.unblock(now)
	}
}

// apply moves the host's clocks by an outcome, and reports whether the record should outlive the process.
func (h *host) apply(out *crawl.Outcome, j *crawl.Job, now time.Time) (notable bool) {
	r := &h.rec
	if out.Contacted() {
		r.Requests++
		h.took = out.Ended.Sub(out.Started)
		if out.Ended.After(r.LastContact) {
			r.LastContact = out.Ended
		}
	}
	if out.Verdict == crawl.VerdictInterrupted && now.After(r.LastContact) {
		r.LastContact = now // it may have been contacted
	}
	if out.Addr.IsValid() {
		r.Addr = out.Addr
	}
	failed := networkFailure(out)
	switch {
	case failed:
		r.Failures++
		h.rest(now.Add(min(retryDelay(j, r.Failures), maxFailureRest)))
	case out.Status != 0:
		notable = r.Failures > 0
		r.Failures = 0
	}
	if out.Slow {
		h.slow(out, j, now)
	}
	return notable || failed || out.Slow || h.gap(j) > 0
}

// maxFailureRest bounds the rest of a host that cannot be reached.
const maxFailureRest = 5 * time.Minute

func networkFailure(out *crawl.Outcome) bool {
	return out.Status == 0 && (out.Verdict == crawl.VerdictRetry || out.Verdict == crawl.VerdictFailed)
}

// rest keeps the host from being contacted before t.
func (h *host) rest(t time.Time) {
	if t.After(h.rec.Next) {
		h.rec.Next = t
	}
}

// slow gives the host the rest it asked for: what Retry-After says, else a minute doubling to a day with 10 % jitter, starting
// small again after a quiet time. An internal error (500) without Retry-After only doubles the delay.
func (h *host) slow(out *crawl.Outcome, j *crawl.Job, now time.Time) {
	r, p := &h.rec, &j.Retry
	if !r.SlowedAt.IsZero() && now.Sub(r.SlowedAt) > p.Forgive.D()+r.Backoff {
		r.Backoff = 0
	}
	r.SlowedAt = now
	switch {
	case out.RetryAfter > 0:
		h.rest(now.Add(min(out.RetryAfter, p.SlowMax.D())))
	case out.Status == 500:
		h.rest(now.Add(2 * h.gap(j)))
	default:
		r.Backoff = min(max(2*r.Backoff, p.SlowMin.D()), p.SlowMax.D())
		h.rest(now.Add(time.Duration(float64(r.Backoff) * (0.95 + 0.1*rand.Float64()))))
	}
}

// down reports whether the host failed so often in a row that its tasks are given up. After the forgiving time it gets
// another chance.
func (h *host) down(j *crawl.Job, now time.Time) bool {
	return h.rec.Failures >= 2*(j.Retry.Max+1) && now.Before(h.rec.Next.Add(j.Retry.Forgive.D()))
}

func clone(rec crawl.Host) crawl.Host {
	rec.Origins = append([]crawl.Origin(nil), rec.Origins...)
	return rec
}
