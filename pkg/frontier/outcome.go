package frontier

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	gone    bool // its job was deleted: nothing of it is recorded
	counted bool // its page was counted before
	ours    bool // its failure is our own trouble: see trouble
	err     error
}

// Handle implements stage.Handler. First what must not be lost is stored: the outcome, the retry, the host's clock. Then
// the host is freed. Outcomes that come at the same time share the commits.
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

// restAfter gives an active host its rest after an attempt about which nothing else is left to do: the request may have
// been made all the same, for a job more patient than the next.
func (f *Frontier) restAfter(r *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[r.Task.URL.HostKey()]
	if h == nil || r.Verdict != crawl.VerdictInterrupted {
		return
	}
	h.rec.LastContact = later(h.rec.LastContact, r.now)
	f.restFor(h, r.js.job, crawl.Rest{Ended: r.now})
	h.dirty = true
}

// leased reports whether the outcome ends a lease that is under way here: its host may have become another node's meanwhile.
func (f *Frontier) leased(out *crawl.Outcome) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, underWay := f.inflight[out.Task.ID()]
	return underWay && l.number == out.Task.Lease
}

// digest handles a batch of outcomes and leaves in each what became of it. What queues tasks comes last, for it is what must
// not be done twice.
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
	// What tells a node that comes after this one to do nothing is stored after what it would have to do: that links are on their way before a host's
	// record says that its robots.txt was fetched, or the ledger that the page was; the rest that a host asked for before the outcome.
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

// sortOut tells results from copies: those whose lease was ended by another one since they were weighed, which was handled in the batch before or is in
// this one. About a copy's URL nothing is left to do. What an answer said about its host holds all the same, and so do the links it brought, for the one that ended
// the lease may only have said that nobody knows whether there was an answer. Of the two in one batch the answer counts.
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

// weigh finds out whether the outcome ends a lease that is under way, and whether there is nothing to do about it any more:
// the attempt was interrupted before a restart, and its task, which came back from its queue, is fetched again already.
func (f *Frontier) weigh(ctx context.Context, r *result) (stale bool, err error) {
	f.mu.Lock()
	l, again := f.inflight[r.id]
	r.known = again && l.number == r.Task.Lease
	f.mu.Unlock()
	d := stage.DeliveryOf(ctx)
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
	return interrupted && !r.known && e.State == crawl.StateDone && e.At.After(f.resumedAt), nil
}

// isPage reports whether an outcome counts against the page budget.
func isPage(k crawl.Kind, v crawl.Verdict, status int) bool {
	return k == crawl.KindPage && v == crawl.VerdictDone && status/100 == 2
}

// record writes a line for each attempt, and final outcomes into the ledger. A robots.txt is no URL of the ledger's. first says
// of which outcomes it is sure that they were not recorded before, unless their tasks were queued twice.
func (f *Frontier) record(ctx context.Context, outs []*crawl.Outcome, first []bool, now time.Time) error {
	entries := map[crawl.JobID][]crawl.Entry{}
	lines := make([]crawl.LogLine, len(outs))
	for i, out := range outs {
		lines[i] = logLine(out, now)
		if t := &out.Task; out.Verdict.Final() && t.Kind != crawl.KindRobots {
			entries[t.Job] = append(entries[t.Job], crawl.Entry{Key: t.URL.Key(), State: crawl.StateDone, Kind: t.Kind,
				Verdict: out.Verdict, Status: out.Status, Reason: out.Reason, At: now, Attempts: t.Attempt + 1,
				Epoch: t.Epoch, Left: leftOut(out), First: first[i] && !t.Repeat && t.Visit == 0})
		}
	}
	for job, es := range entries {
		if err := wasDiscarded(f.deps.Ledger.Finish(ctx, job, es...)); err != nil {
			return fmt.Errorf("frontier: %d outcomes, the first of %s: %w", len(outs), outs[0].Task.URL, err)
		}
	}
	if err := f.deps.Attempts.Append(ctx, lines...); err != nil {
		return fmt.Errorf("frontier: %d log lines, the first of %s: %w", len(outs), outs[0].Task.URL, err)
	}
	return nil
}

// expect notes the pages and robots.txt files whose links are on their way. A robots.txt that was queued because its links were
// lost is expected already: where it has none now it is forgotten.
func (f *Frontier) expect(ctx context.Context, outs []*crawl.Outcome) error {
	if f.deps.Following == nil {
		return nil
	}
	var tasks []crawl.Task
	for _, out := range outs {
		if t := &out.Task; t.Kind == crawl.KindRobots && t.Repeat && !out.Follows && out.Verdict != crawl.VerdictInterrupted {
			if err := f.deps.Following.Forget(ctx, t.Job, t.URL.Key()); err != nil {
				return fmt.Errorf("frontier: %s has no links any more: %w", t.URL, err)
			}
		}
		if out.Follows && out.Verdict.Final() {
			t := out.Task
			t.Lease, t.Attempt, t.NotBefore = 0, 0, time.Time{}
			tasks = append(tasks, t)
		} else if t := &out.Task; t.Tracked && crawl.HasLinks(t.Kind, out.Verdict, out.Status) { // the ledger will look as if links were on their way
			if err := f.deps.Following.Claimed(ctx, t.Job, t.URL, crawl.Share{Of: 1}); err != nil {
				return fmt.Errorf("frontier: %s has no links: %w", t.URL, err)
			}
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	if err := f.deps.Following.Expect(ctx, tasks...); err != nil {
		return fmt.Errorf("frontier: expect the links of %d pages, the first %s: %w", len(tasks), tasks[0].URL, err)
	}
	return nil
}

func logLine(out *crawl.Outcome, now time.Time) crawl.LogLine {
	t := &out.Task
	line := crawl.LogLine{Job: t.Job, At: out.Started, URL: t.URL, Kind: t.Kind, Verdict: out.Verdict, Status: out.Status,
		Reason: out.Reason, Detail: out.Detail, Bytes: out.Bytes, FirstByte: out.FirstByte, Attempt: t.Attempt + 1,
		Depth: t.Depth, ContentType: out.ContentType, Digest: out.Digest, Addr: out.Addr, Referrer: t.Referrer,
		Location: out.Location, Epoch: t.Epoch}
	if line.At.IsZero() {
		line.At = now
	}
	if out.Contacted() {
		line.Duration = out.Ended.Sub(out.Started)
	}
	return line
}

// again queues the task once more where the attempt was not the last.
func (f *Frontier) again(ctx context.Context, r *result) error {
	t := r.Task
	t.Repeat = t.Repeat || r.repeat
	switch {
	case t.Kind == crawl.KindRobots && t.Repeat && r.Verdict == crawl.VerdictInterrupted:
		return f.enqueue(ctx, true, t) // it was queued for its links: perhaps no task of the host needs it
	case t.Kind == crawl.KindRobots:
		return nil // robotsOutcome sees to it
	case r.Verdict == crawl.VerdictRetry:
		return f.putAside(ctx, t, f.jobNow(r.js), r.now, r.ours)
	case shuts(&r.Outcome):
		return f.shut(ctx, t, f.jobNow(r.js), r.now)
	case r.Verdict == crawl.VerdictInterrupted:
		if lost(&r.Outcome) || leaseLost(&r.Outcome) {
			t.Attempt++
		}
		if !lost(&r.Outcome) {
			if err := f.reopen(ctx, r); err != nil {
				return err
			}
		}
		return f.enqueue(ctx, true, t)
	}
	return nil
}

// reopen takes back the outcome of an attempt that got as far as that, but whose messages did not all: the URL's story is open
// again.
func (f *Frontier) reopen(ctx context.Context, r *result) error {
	if err := f.deps.Ledger.Reopen(ctx, r.Task.Job, r.Task.URL.Key()); err != nil {
		return fmt.Errorf("frontier: reopen %s: %w", r.Task.URL, err)
	}
	if r.counted {
		f.mu.Lock()
		r.js.pages--
		f.retrieve()
		f.mu.Unlock()
	}
	return nil
}

// moveClocks notes in the hosts' records what the attempts mean for the hosts, and stores the records where it matters.
func (f *Frontier) moveClocks(ctx context.Context, rs []*result) error {
	missing := map[string]crawl.Host{}
	for _, r := range rs {
		if !r.known { // the host need not be active
			missing[r.Task.URL.HostKey()] = crawl.Host{}
		}
	}
	if err := f.readRecords(ctx, missing); err != nil {
		return err
	}
	strangers := make(map[string]*host, len(missing))
	for key, rec := range missing {
		strangers[key] = &host{rec: rec, index: -1}
	}
	recs, elsewhere := f.applyAll(rs, strangers)
	if len(recs) > 0 {
		if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
			return fmt.Errorf("frontier: records of %d hosts, the first %s: %w", len(recs), recs[0].Key, err)
		}
	}
	return f.enqueue(ctx, false, elsewhere...)
}

// applyAll moves the clocks. It returns the records to store, and tasks for robots.txt files that other hosts have.
// strangers stand for hosts that are not active.
func (f *Frontier) applyAll(rs []*result, strangers map[string]*host) (recs []crawl.Host, elsewhere []crawl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rs {
		h := f.hostOf(r, strangers)
		store := f.apply(h, &r.Outcome, r.js.job, r.now, r.ours) || h.stranger
		f.hear(h, &r.Outcome)
		if r.Task.Kind == crawl.KindRobots {
			store = true
			owner := f.hosts[originHost(r.Task.For)]
			if next := f.robotsOutcome(owner, &r.Outcome, r.js.job, r.now, r.ours); next != nil {
				next.Repeat = next.Repeat || r.repeat
				elsewhere = append(elsewhere, *next)
			}
			if owner != nil && owner != h {
				recs = append(recs, clone(owner.rec))
			}
		}
		if store {
			h.dirty = false
			recs = append(recs, clone(h.rec))
		}
	}
	return recs, elsewhere
}

// hostOf returns the host that an outcome is about.
func (f *Frontier) hostOf(r *result, strangers map[string]*host) *host {
	key := r.Task.URL.HostKey()
	h := f.hosts[key]
	if h != nil {
		return h
	}
	h = strangers[key]
	h.stranger = true
	if rec, ok := f.leaving[key]; ok {
		h.rec = rec
		delete(f.leaving, key)
	}
	return h
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
		if r.known {
			l := f.inflight[r.id]
			delete(f.inflight, r.id)
			if page {
				l.js.leased--
			}
			l.host.busy--
			f.newcomers.held[l.place]--
			f.endRequest(l.host, &r.Outcome, r.js.job, r.now)
			f.rejoin(l.host, r.js, r.now)
		}
		if r.Task.Kind == crawl.KindRobots {
			if owner := f.hosts[originHost(r.Task.For)]; owner != nil {
				f.rejoin(owner, r.js, r.now)
			}
		}
	}
}
