package frontier

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
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
	gone    bool // its job was deleted: nothing of it is recorded
	counted bool // its page was counted before
	ours    bool // its failure is our own trouble: see trouble
	err     error
}

// Handle implements pipeline.Handler. First what must not be lost is stored: the outcome, the retry, the host's clock.
// Then the host is freed. Outcomes that come at the same time share the commits.
func (o Outcomes) Handle(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	f := o.f
	js, err := f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	if out.Task.Kind == crawl.KindRobots && f.place(out.Task.URL).Node != "" && !f.leased(out) {
		return nil, f.foreignRobots(ctx, out, f.jobNow(js))
	}
	r := &result{Outcome: *out, id: out.Task.ID(), js: js, now: time.Now()}
	f.mu.Lock()
	r.gone = js.discarded(&out.Task)
	r.ours = f.trouble.note(out, js.job, r.now, f.deps.Log)
	f.mu.Unlock()
	if r.ours && r.Verdict == crawl.VerdictFailed {
		r.Verdict, r.Robots = crawl.VerdictRetry, nil
	}
	if !r.ours && r.Verdict == crawl.VerdictRetry && r.Task.Kind != crawl.KindRobots && r.Task.Attempt >= f.jobNow(js).Retry.Max {
		r.Verdict = crawl.VerdictFailed
	}
	if leaseLost(out) && r.Task.Kind != crawl.KindRobots && r.Task.Attempt >= f.jobNow(js).Retry.Max+maxLost {
		r.Verdict = crawl.VerdictFailed
	}
	switch stale, err := f.weigh(ctx, r); {
	case err != nil:
		return nil, err
	case stale:
		f.restAfter(r)
		return nil, nil
	}
	if r.gone && !r.known && r.Verdict == crawl.VerdictInterrupted {
		return nil, nil
	}
	if err := f.gather.do(r, func(rs []*result) { f.digest(ctx, rs) }); err != nil {
		return nil, err
	}
	if r.gone {
		return nil, nil
	}
	return f.tellOwner(out), nil
}

// leased reports whether the outcome ends a lease that is under way here: its host may have become another node's
// meanwhile.
func (f *Frontier) leased(out *crawl.Outcome) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, underWay := f.inflight[out.Task.ID()]
	return underWay && l.number == out.Task.Lease
}

// digest handles a batch of outcomes and leaves in each what became of it. What queues tasks comes last, for it is
// what must not be done twice.
func (f *Frontier) digest(ctx context.Context, rs []*result) {
	rs, copies := f.sortOut(rs)
	all := slices.Concat(rs, copies)
	if len(all) == 0 {
		return
	}
	var expected, recorded []*crawl.Outcome
	var first []bool
	for i, r := range all {
		if r.gone {
			continue
		}
		if expected = append(expected, &r.Outcome); i < len(rs) {
			recorded, first = append(recorded, &r.Outcome), append(first, r.known && !r.repeat)
		}
	}
	// What tells a node that comes after this one to do nothing is stored after what it would have to do: that links
	// are on their way before a host's record says that its robots.txt was fetched, or the ledger that the page was;
	// the rest that a host asked for before the outcome.
	err := f.expect(ctx, expected)
	if err == nil {
		err = f.moveClocks(ctx, all)
	}
	for _, r := range copies {
		r.err = err
	}
	if err == nil && len(recorded) > 0 {
		err = f.record(ctx, recorded, first, rs[0].now)
	}
	done := make([]*result, 0, len(rs))
	for _, r := range rs {
		if r.err = err; r.err == nil && !r.gone {
			r.err = f.again(ctx, r)
		}
		if r.err == nil {
			done = append(done, r)
		}
	}
	f.free(done)
}

// sortOut tells results from copies: those whose lease was ended by another one since they were weighed, which was
// handled in the batch before or is in this one. About a copy's URL nothing is left to do. What an answer said about
// its host holds all the same, and so do the links it brought, for the one that ended the lease may only have said
// that nobody knows whether there was an answer. Of the two in one batch the answer counts.
func (f *Frontier) sortOut(all []*result) (rs, copies []*result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *result) int { return cmp.Compare(interruption(a), interruption(b)) })
	ended := make(map[int64]bool, len(all))
	for _, r := range all {
		if !r.known {
			rs = append(rs, r)
			continue
		}
		l, underWay := f.inflight[r.id]
		switch {
		case underWay && l.number == r.Task.Lease && !ended[l.number]:
			ended[l.number] = true
			rs = append(rs, r)
		case ended[r.Task.Lease] || r.Verdict == crawl.VerdictInterrupted:
			r.err = nil
		default:
			r.known = false
			copies = append(copies, r)
		}
	}
	return rs, copies
}

// interruption is 1 for the outcome of an attempt of which nobody knows how it ended, else 0.
func interruption(r *result) int {
	if r.Verdict == crawl.VerdictInterrupted {
		return 1
	}
	return 0
}

// weigh finds out whether the outcome ends a lease that is under way, and whether there is nothing to do about it any
// more: the attempt was interrupted before a restart, and its task, which came back from its queue, is fetched again
// already.
func (f *Frontier) weigh(ctx context.Context, r *result) (stale bool, err error) {
	f.mu.Lock()
	l, again := f.inflight[r.id]
	r.known = again && l.number == r.Task.Lease
	f.mu.Unlock()
	d := pipeline.DeliveryOf(ctx)
	r.repeat = d.Repeat
	if r.gone {
		return false, nil
	}
	interrupted := r.Verdict == crawl.VerdictInterrupted
	switch {
	case lost(&r.Outcome):
		return f.takeBack(ctx, r, again)
	case interrupted && !r.known && (again || r.Task.Kind == crawl.KindRobots):
		return true, nil // robots.txt is asked for whenever it is missing
	case r.Task.Kind == crawl.KindRobots || !interrupted && (r.known || d.Attempt > 0):
		return false, nil
	}
	e, err := f.lookup(ctx, &r.Task)
	if err != nil {
		return false, err
	}
	r.counted = e.State == crawl.StateDone && isPage(e.Kind, e.Verdict, e.Status)
	return interrupted && !r.known && e.State == crawl.StateDone && e.At.After(f.hosts.resumedAt), nil
}

// free ends the leases and lets the hosts wait for their next tasks.
func (f *Frontier) free(rs []*result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.signal()
	for _, r := range rs {
		page := r.Task.Kind == crawl.KindPage
		if isPage(r.Task.Kind, r.Verdict, r.Status) && !r.counted && !r.gone {
			r.js.pages++
		}
		if r.Verdict.Final() {
			f.leavePlace(r.js, &r.Task)
		}
		if r.known {
			l := f.inflight[r.id]
			delete(f.inflight, r.id)
			if l.placed {
				l.js.places.leased--
			}
			if page {
				l.js.leased--
			}
			l.host.busy--
			f.newcomers.held[l.place]--
			f.endRequest(l.host, &r.Outcome, r.js.job, r.now)
			f.rejoin(l.host, r.js, r.now)
		}
		if r.Task.Kind == crawl.KindRobots {
			if owner := f.hosts.of(originHost(r.Task.For)); owner != nil {
				f.rejoin(owner, r.js, r.now)
			}
		}
	}
}
