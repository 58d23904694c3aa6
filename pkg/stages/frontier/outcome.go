package frontier

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// Outcomes is the handler of frontier.outcome. Its methods are the steps that an outcome passes.
type Outcomes struct{ f *Frontier }

// Outcomes returns the handler of outcomes.
func (f *Frontier) Outcomes() Outcomes { return Outcomes{f} }

// result is an outcome on its way through the steps, and what it means here.
type result struct {
	crawl.Outcome
	came    *crawl.Outcome // as it came: Outcome is what is made of it
	id      crawl.MessageID
	js      *jobState
	job     *crawl.Job // the revision that applied when it came
	now     time.Time
	leased  bool          // a lease of its task is under way
	known   bool          // that lease is its own
	repeat  bool          // it may have been handled before
	gone    bool          // its job was deleted: nothing of it is recorded
	foreign bool          // it is of a robots.txt that another node's host has, and ends no lease of this node's
	counted bool          // its page was counted before
	ours    bool          // its failure is our own trouble: see trouble
	then    []crawl.Event // what follows from it, besides tellOwner
	over    bool          // nothing is left to do about it
	err     error
}

// An outcome passes each step once, in this order. The first steps look at it alone; one that is over then goes no
// further. The others go on as batches: outcomes that come at the same time share the commits of the stores.
//
// Its message is settled when all steps are done: after a kill it comes again, marked as repeated, and passes them all
// once more. Completion markers are written last, so that a successor repeats what was not finished. Beside each step
// stands what a kill right after it leaves behind.
var (
	outcomeSteps = []func(Outcomes, context.Context, *result) error{
		Outcomes.look,          // nothing
		Outcomes.foreignRobots, // the origin's record has the rules; they are noted again
		Outcomes.judge,         // nothing
		Outcomes.weigh,         // of a lost body: an open entry, and a place that is kept; its task is queued later
	}
	batchSteps = []func(Outcomes, context.Context, *digest) error{
		Outcomes.pair,        // nothing
		Outcomes.expectLinks, // a page is expected that is not concluded yet; it is expected again
		Outcomes.spendBytes,  // the bytes of the outcomes, which are counted again
		Outcomes.moveClocks,  // the host's record has the request and may count it twice: it rests longer
		Outcomes.recordAll,   // the ledger has the outcome, and counts it once; crawl.log may get a second line
		Outcomes.revisitAll,  // the page is due again; told again, it is the same visit
		Outcomes.queueAgain,  // the task is queued; the second copy is marked, and dropRepeats drops one
		Outcomes.free,        // memory only: Recover builds it anew
		Outcomes.leavePlaces, // the store has places of pages that ended: they are forgotten when the job is met again
	}
	// Then the pipeline publishes what tellOwner returns. After a kill it does so again, and the owner notes the same
	// rules.
)

// Handle implements pipeline.Handler.
func (o Outcomes) Handle(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	if out.Observed != nil {
		return o.observed(ctx, out)
	}
	r := &result{Outcome: *out, came: out}
	for _, step := range outcomeSteps {
		if err := step(o, ctx, r); err != nil || r.over {
			return nil, err
		}
	}
	if err := o.f.gather.do(r, func(rs []*result) { o.digest(ctx, rs) }); err != nil {
		return nil, err
	}
	return append(o.f.duties.tellOwner(r), r.then...), nil
}

// look finds out what the frontier knows about an outcome: its job, its lease, and whether its failure is our own
// trouble.
func (o Outcomes) look(ctx context.Context, r *result) (err error) {
	if r.js, err = o.f.jobOf(ctx, r.Task.Job); err != nil {
		return err
	}
	elsewhere := r.Task.Kind == crawl.KindRobots && !o.f.duties.owns(r.Task.URL)
	r.id, r.now, r.repeat = r.Task.ID(), time.Now(), pipeline.DeliveryOf(ctx).Repeat
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	l := o.f.leases.of(r.id)
	r.leased, r.known = l != nil, l != nil && l.number == r.Task.Lease
	r.foreign = elsewhere && !r.known // its host may have become another node's while its lease was under way
	r.job, r.gone = r.js.job, r.js.discarded(&r.Task)
	if !r.foreign {
		r.ours = o.f.trouble.note(r.came, r.job, r.now, o.f.deps.Log)
	}
	return nil
}

// judge decides whether an attempt that failed was the last. One that failed by our own trouble never is.
func (o Outcomes) judge(_ context.Context, r *result) error {
	page := r.Task.Kind != crawl.KindRobots
	switch {
	case r.Verdict == crawl.VerdictRetry && r.Reason == crawl.ReasonNotAsset:
		return o.f.judgePage(r)
	case r.ours && r.Verdict == crawl.VerdictFailed:
		r.Verdict, r.Robots = crawl.VerdictRetry, nil
	case !r.ours && page && len(r.job.Retry.On) > 0 && r.judgeNamed():
	case !r.ours && r.Verdict == crawl.VerdictRetry && page && r.Task.Attempt >= r.mostRepeats():
		r.Verdict = crawl.VerdictFailed
	case leaseLost(r.came) && page && r.Task.Attempt >= r.job.Retry.Max+maxLost:
		r.Verdict = crawl.VerdictFailed
	}
	return nil
}

// mostRepeats is how often an attempt that failed in this way is repeated at most. A page waits for a resource, and the
// host of one that answers 503, or holds requests open, is not asked for anything else meanwhile. What fails so twice
// fails for visitors, too, and the page's scripts show them something.
func (r *result) mostRepeats() int {
	slow := r.Reason == crawl.ReasonTimeout || r.Reason == crawl.ReasonTooSlow
	if r.Task.Kind == crawl.KindResource && (slow || r.Status >= http.StatusInternalServerError) {
		return min(r.job.Retry.Max, 1)
	}
	return r.job.Retry.Max
}

// weigh ends the way of an outcome about which nothing is left to do, but to let its host rest.
func (o Outcomes) weigh(ctx context.Context, r *result) error {
	if r.gone {
		r.over = r.Verdict == crawl.VerdictInterrupted && !r.known
		return nil
	}
	stale, err := o.isStale(ctx, r)
	if stale && err == nil {
		o.restAfter(r)
		r.over = true
	}
	return err
}

// isStale reports whether nothing is left to do about the outcome: the attempt was interrupted before a restart, and
// its task, which came back from its queue, is fetched again already. Where it has to ask the ledger it notes whether
// the page was counted before.
func (o Outcomes) isStale(ctx context.Context, r *result) (stale bool, err error) {
	interrupted := r.Verdict == crawl.VerdictInterrupted
	switch {
	case lost(&r.Outcome):
		return o.takeBack(ctx, r)
	case interrupted && !r.known && (r.leased || r.Task.Kind == crawl.KindRobots):
		return true, nil // robots.txt is asked for whenever it is missing
	case !r.Task.Kind.InLedger() || r.Task.Visit == 0 && !interrupted && (r.known || pipeline.DeliveryOf(ctx).Attempt > 0):
		return false, nil
	}
	e, err := o.f.lookup(ctx, &r.Task)
	if err != nil {
		return false, err
	}
	r.counted = e.State == crawl.StateDone && crawl.CountsAsPage(e.Kind, e.Verdict, e.Status)
	return interrupted && !r.known && ended(e, &r.Task) && e.At.After(o.f.hosts.resumedAt), nil
}

// ended reports whether the visit that a task makes has its outcome, or a later one has.
func ended(e *crawl.Entry, t *crawl.Task) bool {
	return e.State == crawl.StateDone && int64(e.Visit) >= int64(t.Visit)
}
