package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// record writes a line for each attempt, and final outcomes into the ledger. A robots.txt is no URL of the ledger's.
// first says of which outcomes it is sure that they were not recorded before, unless their tasks were queued twice.
func (f *Frontier) record(ctx context.Context, outs []*crawl.Outcome, first []bool, now time.Time) error {
	lines := make([]crawl.LogLine, len(outs))
	for i, out := range outs {
		lines[i] = logLine(out, now)
	}
	if err := f.refuseResources(ctx, outs, now); err != nil {
		return err
	}
	if err := f.finish(ctx, outs, first, now); err != nil {
		return err
	}
	if err := f.deps.Attempts.Append(ctx, lines...); err != nil {
		return fmt.Errorf("frontier: %d log lines, the first of %s: %w", len(outs), outs[0].Task.URL, err)
	}
	return nil
}

// finish writes final outcomes into the ledger.
func (f *Frontier) finish(ctx context.Context, outs []*crawl.Outcome, first []bool, now time.Time) error {
	entries := map[crawl.JobID][]crawl.Entry{}
	for i, out := range outs {
		if t := &out.Task; out.Verdict.Final() && t.Kind.InLedger() {
			if len(entries) == 0 { // mostly all are of one job
				entries[t.Job] = make([]crawl.Entry, 0, len(outs)-i)
			}
			entries[t.Job] = append(entries[t.Job], crawl.Entry{Key: t.URL.Key(), State: crawl.StateDone, Kind: kindOf(out),
				Verdict: out.Verdict, Status: out.Status, Reason: out.Reason, At: now, Attempts: attempts(out),
				Epoch: t.Epoch, Left: leftOut(out), First: first[i] && f.doubted.sureFirst(t),
				Validators: f.validators(out), Visit: uint32(max(t.Visit, 0)), Again: f.book.TaskOf(out)})
		}
	}
	for job, es := range entries {
		ctx := crawl.UnderEpoch(ctx, job, es[0].Epoch)
		if err := crawl.UnlessDiscarded(f.deps.Ledger.Finish(ctx, job, es...)); err != nil {
			return fmt.Errorf("frontier: %d outcomes, the first of %s: %w", len(outs), outs[0].Task.URL, err)
		}
	}
	return nil
}

// validators are what the ledger keeps of an outcome's. Of a URL that is fetched once it keeps none: they are asked for
// at the next visit, and would cost a write a page. A URL has a next visit in a continuous job, and from its second
// visit on.
func (f *Frontier) validators(out *crawl.Outcome) crawl.Validators {
	if out.Task.Visit == 0 && !f.book.Continuous(out.Task.Job) {
		return crawl.Validators{}
	}
	if out.Verdict != crawl.VerdictDone {
		return crawl.Validators{}
	}
	return crawl.Validators{ETag: out.ETag, LastModified: out.LastModified}
}

// attempts is how many attempts of a task there were: a task that the job turned out not to want is none.
func attempts(out *crawl.Outcome) int {
	if out.Verdict == crawl.VerdictExcluded && !out.Contacted() {
		return out.Task.Attempt
	}
	return out.Task.Attempt + 1
}

func logLine(out *crawl.Outcome, now time.Time) crawl.LogLine {
	t := &out.Task
	line := crawl.LogLine{Job: t.Job, At: out.Started, URL: t.URL, Kind: t.Kind, Verdict: out.Verdict, Status: out.Status,
		Reason: out.Reason, Detail: out.Detail, Bytes: out.Bytes, FirstByte: out.FirstByte, Attempt: attempts(out),
		Depth: t.Depth, ContentType: out.ContentType, Digest: out.Digest, Addr: out.Addr, Referrer: t.Referrer,
		Location: out.Location, Epoch: t.Epoch, Visit: t.Visit, Finds: t.Finds, HostLinks: t.HostLinks,
		Relevance: t.Relevance}
	if t.Priority != crawl.DefaultPriority && t.Kind != crawl.KindRobots {
		line.Priority = t.Priority
	}
	if line.At.IsZero() {
		line.At = now
	}
	if out.Contacted() {
		line.Duration = out.Ended.Sub(out.Started)
	}
	return line
}

// again queues the task once more where the attempt was not the last.
func (o Outcomes) again(ctx context.Context, r *result) error {
	t := r.Task
	ctx = crawl.UnderEpoch(ctx, t.Job, t.Epoch)
	t.Repeat = t.Repeat || r.repeat || !r.known // where its lease ended otherwise, it was queued for that
	switch {
	case t.Kind == crawl.KindRobots && t.Repeat && r.Verdict == crawl.VerdictInterrupted:
		return o.f.enqueue(ctx, true, t) // it was queued for its links: perhaps no task of the host needs it
	case t.Kind == crawl.KindRobots:
		return nil // robotsDesk.outcome sees to it
	case t.Kind == crawl.KindResource && r.Verdict == crawl.VerdictInterrupted:
		t.Attempt++
		return o.f.enqueue(ctx, true, t)
	case r.Verdict == crawl.VerdictRetry && r.Reason == crawl.ReasonNotAsset:
		t.Kind, t.Lease = crawl.KindPage, 0
		return o.f.enqueue(ctx, t.Repeat, t)
	case r.Verdict == crawl.VerdictDone && r.Reason == crawl.ReasonCookie:
		return o.askStart(ctx, r)
	case r.Verdict == crawl.VerdictRetry:
		return o.f.putAside(ctx, t, r)
	case shuts(&r.Outcome):
		return o.f.shut(ctx, t, r.job, r.now)
	case r.Verdict == crawl.VerdictInterrupted && t.Visit > 0 && t.Kind.InLedger():
		return o.visitAnew(ctx, t)
	case r.Verdict == crawl.VerdictInterrupted:
		if done, err := o.answeredMeanwhile(ctx, r); done || err != nil {
			return err
		}
		if lost(&r.Outcome) || leaseLost(&r.Outcome) {
			t.Attempt++
		}
		if !lost(&r.Outcome) {
			if err := o.reopen(ctx, r); err != nil {
				return err
			}
		}
		return o.f.enqueue(ctx, true, t)
	}
	return nil
}

// askStart queues the start of a loop of redirects once more: with the cookies that were set on the way it may end.
// Where that was done before a kill, it is open, and a second copy of its task is dropped. It is open, too, while its
// first outcome has not come: then this one waits for that, after which a copy would be dropped.
func (o Outcomes) askStart(ctx context.Context, r *result) error {
	start := r.Task
	start.URL, start.Referrer = r.job.Canonicalizer().Canonical(r.Location), r.Task.URL
	start.Redirects, start.Attempt, start.Lease, start.NotBefore = r.Task.Redirects+1, 0, 0, time.Time{}
	start.Asked, start.Repeat, start.Tracked, start.Paid = true, true, false, false
	entries, err := o.f.deps.Ledger.Lookup(ctx, start.Job, start.URL.Key())
	switch e := entries; {
	case err != nil:
		return fmt.Errorf("frontier: look up %s, to which redirects lead back: %w", start.URL, err)
	case e[0].State == crawl.StateOpen && o.f.underWay(start.ID()):
		return &bus.RetryError{After: startWait, Err: errStartUnderWay, Expected: true}
	case e[0].State == crawl.StateOpen:
		return o.f.enqueue(ctx, true, start)
	case e[0].State != crawl.StateDone || e[0].Verdict != crawl.VerdictDone || e[0].Status/100 != 3:
		return nil // it was asked meanwhile
	}
	start.Kind = entries[0].Kind
	if err := o.f.KeepPlaces(ctx, start); err != nil {
		return err
	}
	if err := o.f.deps.Ledger.Reopen(ctx, start.Job, start.URL.Key()); err != nil {
		return fmt.Errorf("frontier: reopen %s, to which redirects lead back: %w", start.URL, err)
	}
	return o.f.enqueue(ctx, true, start)
}

// startWait is how long the end of a loop waits for the outcome of its start: milliseconds are usual.
const startWait = time.Second

var errStartUnderWay = errors.New("the start of a loop of redirects has no outcome yet")

// underWay reports whether a task is leased.
func (f *Frontier) underWay(id crawl.MessageID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leases.of(id) != nil
}

// answeredMeanwhile looks again whether an attempt of an earlier life has its outcome. A fetcher that died behind its
// outcome leaves two messages, the outcome and the lease, of which the second comes back as interrupted: both are
// handled at once, and the outcome may have been recorded since the steps before looked. Then it stands.
func (o Outcomes) answeredMeanwhile(ctx context.Context, r *result) (bool, error) {
	if r.known || lost(&r.Outcome) || leaseLost(&r.Outcome) {
		return false, nil
	}
	e, err := o.f.lookup(ctx, &r.Task)
	if err != nil {
		return false, err
	}
	done := e.State == crawl.StateDone
	r.counted = done && crawl.CountsAsPage(e.Kind, e.Verdict, e.Status)
	return done && e.At.After(o.f.hosts.resumedAt), nil
}

// reopen takes back the outcome of an attempt that got as far as that, but whose messages did not all: the URL's
// story is open again.
func (o Outcomes) reopen(ctx context.Context, r *result) error {
	if err := o.f.KeepPlaces(ctx, r.Task); err != nil {
		return err
	}
	if err := o.f.deps.Ledger.Reopen(ctx, r.Task.Job, r.Task.URL.Key()); err != nil {
		return fmt.Errorf("frontier: reopen %s: %w", r.Task.URL, err)
	}
	if r.counted {
		o.f.mu.Lock()
		r.js.pages--
		o.f.stock.retrieve(r.Task.Job)
		o.f.mu.Unlock()
	}
	return nil
}

// visitAnew queues the next visit of a page in the place of one that was cut short. That may have got as far as its
// outcome, and as its record: these stay, and what comes of it late is of an earlier visit.
func (o Outcomes) visitAnew(ctx context.Context, t crawl.Task) error {
	t.Visit++
	t.Attempt, t.Lease = 0, 0
	t.ETag, t.LastModified, t.Restore = "", "", true // the record may be of either visit: it is written anew
	if err := o.f.enqueue(ctx, true, t); err != nil {
		return err
	}
	return o.f.book.Queued(ctx, &t)
}
