package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stage"
)

// Outcomes is the handler of frontier.outcome.
type Outcomes struct{ f *Frontier }

// Outcomes returns the handler of outcomes.
func (f *Frontier) Outcomes() Outcomes { return Outcomes{f} }

// result is an outcome and what it means here.
type result struct {
	crawl.Outcome
	id      crawl.MessageID
	js      *jobState
	now     time.Time
	known   bool // its lease is under way
	repeat  bool // it may have been handled before
	counted bool // its page was counted before
}

// Handle implements stage.Handler. First what must not be lost is stored: the outcome, the retry, the host's clock. Then
// the host is freed.
func (o Outcomes) Handle(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	f := o.f
	js, err := f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	r := &result{Outcome: *out, id: out.Task.ID(), js: js, now: time.Now()}
	if r.Verdict == crawl.VerdictRetry && r.Task.Kind != crawl.KindRobots && r.Task.Attempt >= js.job.Retry.Max {
		r.Verdict = crawl.VerdictFailed
	}
	if stale, err := f.weigh(ctx, r); stale || err != nil {
		return nil, err
	}
	if err := f.record(ctx, &r.Outcome, r.now); err != nil {
		return nil, err
	}
	if err := f.again(ctx, r); err != nil {
		return nil, err
	}
	if err := f.moveClock(ctx, r); err != nil {
		return nil, err
	}
	f.free(r)
	return nil, nil
}

// weigh finds out whether the outcome ends a lease that is under way, and whether there is nothing to do about it any more:
// the attempt was interrupted before a restart, and its task, which came back from its queue, is fetched again already.
func (f *Frontier) weigh(ctx context.Context, r *result) (stale bool, err error) {
	f.mu.Lock()
	l, again := f.inflight[r.id]
	r.known = again && l.number == r.Task.Lease
	f.mu.Unlock()
	d := stage.DeliveryOf(ctx)
	r.repeat = d.Repeat
	interrupted := r.Verdict == crawl.VerdictInterrupted
	switch {
	case interrupted && !r.known && (again || r.Task.Kind == crawl.KindRobots):
		return true, nil // robots.txt is asked for whenever it is missing
	case r.Task.Kind == crawl.KindRobots || !interrupted && (r.known || !r.repeat || d.Attempt > 0):
		return false, nil
	}
	entries, err := f.deps.Ledger.Lookup(ctx, r.Task.Job, r.Task.URL.Key())
	if err != nil {
		return false, fmt.Errorf("frontier: look up %s: %w", r.Task.URL, err)
	}
	e := &entries[0]
	r.counted = e.State == crawl.StateDone && isPage(e.Kind, e.Verdict, e.Status)
	return interrupted && !r.known && e.State == crawl.StateDone && e.At.After(f.resumedAt), nil
}

// isPage reports whether an outcome counts against the page budget.
func isPage(k crawl.Kind, v crawl.Verdict, status int) bool {
	return k == crawl.KindPage && v == crawl.VerdictDone && status/100 == 2
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
func (f *Frontier) again(ctx context.Context, r *result) error {
	t := r.Task
	t.Repeat = t.Repeat || r.repeat
	switch {
	case t.Kind == crawl.KindRobots:
		return nil // robotsOutcome sees to it
	case r.Verdict == crawl.VerdictRetry:
		return f.putAside(ctx, t, r.js.job, r.now)
	case r.Verdict == crawl.VerdictInterrupted:
		// The first delivery may have got as far as the outcome, but not all its messages: the URL's story is open again.
		if err := f.deps.Ledger.Reopen(ctx, t.Job, t.URL.Key()); err != nil {
			return fmt.Errorf("frontier: reopen %s: %w", t.URL, err)
		}
		if r.counted {
			f.mu.Lock()
			r.js.pages--
			f.fronts[0] += f.aside // there may be room again
			f.aside = 0
			f.mu.Unlock()
		}
		return f.enqueue(ctx, true, t)
	}
	return nil
}

// moveClock notes in the host's record what the attempt means for the host, and stores the record where it matters.
func (f *Frontier) moveClock(ctx context.Context, r *result) error {
	key := r.Task.URL.HostKey()
	stranger := &host{rec: crawl.Host{Key: key}, index: -1}
	if !r.known { // the host need not be active
		rec, err := f.recordOf(ctx, key)
		if err != nil {
			return err
		}
		stranger.rec = rec
	}
	recs, elsewhere := f.applyOutcome(r, stranger)
	if len(recs) > 0 {
		if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
			return fmt.Errorf("frontier: record of host %s: %w", key, err)
		}
	}
	if elsewhere != nil {
		return f.enqueue(ctx, r.repeat, *elsewhere)
	}
	return nil
}

// applyOutcome moves the clocks. It returns the records to store, and a task for another host's robots.txt. stranger
// stands for the host if that is not active.
func (f *Frontier) applyOutcome(r *result, stranger *host) (recs []crawl.Host, elsewhere *crawl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[stranger.rec.Key]
	if h == nil {
		h = stranger
		if rec, ok := f.leaving[h.rec.Key]; ok {
			h.rec = rec
			delete(f.leaving, h.rec.Key)
		}
	}
	store := h.apply(&r.Outcome, r.js.job, r.now) || h == stranger
	if r.Task.Kind == crawl.KindRobots {
		store = true
		owner := f.hosts[originHost(r.Task.For)]
		elsewhere = f.robotsOutcome(owner, &r.Outcome, r.js.job, r.now)
		if owner != nil && owner != h {
			recs = append(recs, clone(owner.rec))
		}
	}
	if store {
		h.dirty = false
		recs = append(recs, clone(h.rec))
	}
	return recs, elsewhere
}

// free ends the lease and lets the host wait for its next task.
func (f *Frontier) free(r *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.signal()
	if isPage(r.Task.Kind, r.Verdict, r.Status) && !r.counted {
		r.js.pages++
	}
	if r.known {
		l := f.inflight[r.id]
		delete(f.inflight, r.id)
		if r.Task.Kind == crawl.KindPage {
			r.js.leased--
		}
		l.host.busy--
		f.endRequest(l.host, &r.Outcome, r.js.job, r.now)
		f.rejoin(l.host, r.js, r.now)
	}
	if r.Task.Kind == crawl.KindRobots {
		if owner := f.hosts[originHost(r.Task.For)]; owner != nil {
			f.rejoin(owner, r.js, r.now)
		}
	}
}
