package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A URL whose robots.txt could not be had, or whose host failed so often that the URL was not tried, has an outcome:
// no crawl waits for it. But it stays queued, and when the host may be asked again its outcome is taken back and it
// is tried again, by a crawl that still runs or by the same command later.
const (
	shutMin = time.Hour // as long as the fetcher believes that a robots.txt is not to be had
	shutMax = 24 * time.Hour
)

func isShut(number int) bool { return number >= crawl.ShutMark }

// shuts reports whether an outcome ends the story of its URL only for the time being.
func shuts(out *crawl.Outcome) bool {
	switch {
	case !out.Task.Kind.InLedger() || out.Task.Visit > 0: // a page that is visited again is due again
		return false
	case out.Verdict == crawl.VerdictBlocked:
		return out.Reason == crawl.ReasonRobotsDown
	}
	return out.Verdict == crawl.VerdictFailed && out.Reason == crawl.ReasonHostDown
}

// shutFor is for how long: the more the more often the host failed.
func (f *Frontier) shutFor(key string, j *crawl.Job) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	rounds := max(f.hosts.failures(key)/(j.Retry.Max+1)-1, 0)
	return min(shutMin<<min(rounds, 8), shutMax)
}

func (f *Frontier) shut(ctx context.Context, t crawl.Task, j *crawl.Job, now time.Time) error {
	wait := f.shutFor(t.URL.HostKey(), j)
	t.Attempt, t.Lease, t.NotBefore = 0, 0, now.Add(wait)
	return f.pushLaterAs(ctx, crawl.ShutMark+laterNumber(wait), t)
}

// shutAll puts those tasks of outcomes aside that are to be tried again some day.
func (dp *dispatcher) shutAll(ctx context.Context, outs []*crawl.Outcome, now time.Time) error {
	for _, out := range outs {
		if !shuts(out) {
			continue
		}
		js, err := dp.jobOf(ctx, out.Task.Job)
		if err == nil {
			err = dp.shut(ctx, out.Task, dp.jobNow(js), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// releaseShut queues a task whose time has come and that had an outcome for the time being. It is tried again, unless
// it got another outcome since.
func (dp *dispatcher) releaseShut(ctx context.Context, t crawl.Task) error {
	if dp.isHeld(t.Job) { // what has its outcome keeps that
		t.NotBefore = time.Now().Add(shutMin)
		return dp.pushLaterAs(ctx, crawl.ShutMark+laterNumber(shutMin), t)
	}
	e, err := dp.lookup(ctx, &t)
	if err != nil {
		return err
	}
	if e.State == crawl.StateDone {
		if !shuts(&crawl.Outcome{Task: t, Verdict: e.Verdict, Reason: e.Reason}) {
			return nil
		}
		if err := dp.deps.Ledger.Reopen(ctx, t.Job, t.URL.Key()); err != nil {
			return fmt.Errorf("frontier: reopen %s: %w", t.URL, err)
		}
	}
	return dp.enqueue(ctx, true, t)
}

// hurryShut lets tasks of shut URLs that an older revision of their job put aside be tried now: the new one may reach
// what that one did not, a host without a valid certificate for example. Where it cannot, no request is made.
func (dp *dispatcher) hurryShut(ctx context.Context, ds []crawl.Delivery, now time.Time) error {
	for i := range ds {
		js, err := dp.jobOf(ctx, ds[i].Task.Job)
		if err != nil {
			return err
		}
		if js == nil {
			continue
		}
		dp.mu.Lock()
		dp.hurry(&ds[i].Task, js.job, now)
		dp.mu.Unlock()
	}
	return nil
}

// hurryShutOf is hurryShut for what was pulled when a job is revised. mu is held.
func (f *Frontier) hurryShutOf(job *crawl.Job, now time.Time) {
	for number, q := range f.stock.later {
		for i := range q.heads {
			if t := &q.heads[i].Task; isShut(number) && t.Job == job.ID {
				f.hurry(t, job, now)
			}
		}
	}
}

// hurry makes one of them due. mu is held.
func (f *Frontier) hurry(t *crawl.Task, job *crawl.Job, now time.Time) {
	if t.JobEpoch() < crawl.EpochOf(job.Epoch) && t.NotBefore.After(now) && !f.jobs.holds[job.ID] {
		t.NotBefore = now
	}
}

// isHeld reports whether a job is held.
func (f *Frontier) isHeld(id crawl.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs.holds[id]
}

// checkTrouble asks a host that answered before, to learn whether the fault is ours.
func (dp *dispatcher) checkTrouble(ctx context.Context, _ time.Time) (bool, error) {
	dp.mu.Lock()
	task, wanted := dp.trouble.check()
	dp.mu.Unlock()
	if !wanted {
		return false, nil
	}
	return true, dp.enqueue(ctx, false, task)
}
