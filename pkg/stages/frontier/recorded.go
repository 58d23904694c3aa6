package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// isPage reports whether an outcome counts against the page budget.
func isPage(k crawl.Kind, v crawl.Verdict, status int) bool {
	return k == crawl.KindPage && v == crawl.VerdictDone && status/100 == 2
}

// record writes a line for each attempt, and final outcomes into the ledger. A robots.txt is no URL of the ledger's.
// first says of which outcomes it is sure that they were not recorded before, unless their tasks were queued twice.
func (f *Frontier) record(ctx context.Context, outs []*crawl.Outcome, first []bool, now time.Time) error {
	entries := map[crawl.JobID][]crawl.Entry{}
	lines := make([]crawl.LogLine, len(outs))
	for i, out := range outs {
		lines[i] = logLine(out, now)
		if t := &out.Task; out.Verdict.Final() && t.Kind != crawl.KindRobots {
			entries[t.Job] = append(entries[t.Job], crawl.Entry{Key: t.URL.Key(), State: crawl.StateDone, Kind: t.Kind,
				Verdict: out.Verdict, Status: out.Status, Reason: out.Reason, At: now, Attempts: t.Attempt + 1,
				Epoch: t.Epoch, Left: leftOut(out), First: first[i] && f.sureFirst(t),
				Validators: validators(out)})
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
	return f.leavePlaces(ctx, outs)
}

// validators are what the ledger keeps of an outcome's. Of a URL that is fetched once it keeps none: they are asked for
// at the next visit, and would cost a write a page. From its second visit on a URL is one that has a next.
func validators(out *crawl.Outcome) crawl.Validators {
	if out.Task.Visit == 0 || out.Verdict != crawl.VerdictDone {
		return crawl.Validators{}
	}
	return crawl.Validators{ETag: out.ETag, LastModified: out.LastModified}
}

// expect notes the pages and robots.txt files whose links are on their way. A robots.txt that was queued because its
// links were lost is expected already: where it has none now it is forgotten.
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
	t.Repeat = t.Repeat || r.repeat || !r.known // where its lease ended otherwise, it was queued for that
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

// reopen takes back the outcome of an attempt that got as far as that, but whose messages did not all: the URL's
// story is open again.
func (f *Frontier) reopen(ctx context.Context, r *result) error {
	if err := f.KeepPlaces(ctx, r.Task); err != nil {
		return err
	}
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
