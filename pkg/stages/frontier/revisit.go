package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier/revisits"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// mostAhead is how many revisits of a job wait in front queues at most.
const mostAhead = 256

// newBook makes the memory of a frontier's pages between their visits.
func newBook(f *Frontier) *revisits.Book {
	cfg := revisits.Config{Store: f.deps.Revisits, Calendar: f.cfg.Calendar, Wake: f.signal, Log: f.deps.Log}
	if f.deps.Ring != nil {
		cfg.Owns = f.duties.owns
	}
	return revisits.New(cfg)
}

// revisit queues the pages of continuous jobs that are due. They are queued first and then taken out of what is due:
// killed in between they are queued again as the same visits, and the ledger settles the second.
func (dp *dispatcher) revisit(ctx context.Context, now time.Time) (did bool, err error) {
	if !dp.book.On() {
		return false, nil
	}
	var jobs []*jobState
	dp.mu.Lock()
	for _, js := range dp.jobs.byID {
		if js.job.Revisits() && !dp.paused && !js.held && !js.dead && !js.over && js.bound == "" {
			jobs = append(jobs, js)
		}
	}
	dp.mu.Unlock()
	active := make([]*revisits.Job, 0, len(jobs))
	for _, js := range jobs {
		a, err := dp.book.Job(dp.jobNow(js))
		if a == nil {
			if err != nil {
				return did, err
			}
			continue
		}
		active = append(active, a)
		some, err := dp.revisitJob(ctx, a, now)
		if err != nil {
			return did, err
		}
		did = did || some
	}
	dp.book.SetActive(active)
	return did, nil
}

func (dp *dispatcher) revisitJob(ctx context.Context, a *revisits.Job, now time.Time) (bool, error) {
	job := a.Revision()
	turn, err := a.Next(ctx, now, func() int { return int(mostAhead - dp.revisitsWaiting(job.ID)) }, dp.ownNow)
	if turn == nil || err != nil {
		return false, err
	}
	var tasks []crawl.Task
	if keys := turn.Keys(); len(keys) > 0 {
		entries, err := dp.deps.Ledger.Lookup(ctx, job.ID, keys...)
		if err != nil {
			return false, fmt.Errorf("frontier: look up %d pages that are due: %w", len(keys), err)
		}
		tasks = turn.Tasks(job, entries)
	}
	if err := dp.enqueue(ctx, true, tasks...); err != nil {
		return false, err
	}
	return len(tasks) > 0, turn.Took(ctx)
}

// Meet has the frontier visit the pages of a job again though no task of it is queued.
func (f *Frontier) Meet(ctx context.Context, id crawl.JobID) error {
	_, err := f.jobOf(ctx, id)
	f.signal()
	return err
}

// ownNow reports whether a page is this node's to visit at the moment.
func (dp *dispatcher) ownNow(u weburl.URL) bool {
	p := dp.duties.place(u)
	return p.Node == "" && p.Lease
}

// revisitsWaiting is how many tasks wait in the front queues that revisits are put in.
func (dp *dispatcher) revisitsWaiting(id crawl.JobID) (n int64) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	j := dp.stock.fronts.jobs(id)
	for p := revisit.PriorityPlain; p <= revisit.PriorityHead; p++ {
		n += j.lengths[p]
	}
	return n
}

// VisitAnew makes pages of a job due whose visits are queued or made by nobody any more, and returns how many they are.
func (f *Frontier) VisitAnew(ctx context.Context, job crawl.JobID, pages ...weburl.URL) (n int, err error) {
	return f.book.VisitAnew(ctx, job, pages...)
}

// dropOverdue drops tasks of visits in whose place another one is made: see VisitAnew. A page whose content nobody has
// observed, because its first visit was taken back when this one was queued, is asked for as a whole: it may have no
// record.
func (dp *dispatcher) dropOverdue(ctx context.Context, job crawl.JobID, cs []*choice) error {
	if !dp.book.On() {
		return nil
	}
	var asked []*choice
	var keys []weburl.Key
	for _, c := range cs {
		if t := &c.delivery.Task; c.lease && t.Visit > 0 && t.Kind.InLedger() {
			asked, keys = append(asked, c), append(keys, t.URL.Key())
		}
	}
	if len(keys) == 0 {
		return nil
	}
	states, err := dp.book.States(ctx, job, keys...)
	if err != nil {
		return fmt.Errorf("frontier: look up %d pages between their visits, the first %s: %w", len(keys),
			asked[0].delivery.Task.URL, err)
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	for i, c := range asked {
		t := &c.delivery.Task
		if int64(states[i].Visits) > int64(t.Visit) {
			dp.leases.release(c)
		}
		if states[i].Visits == 0 {
			t.ETag, t.LastModified, t.Sum, t.Restore = "", "", 0, true
		}
	}
	return nil
}

// Freshness returns how fresh the pages of a job are, as they were counted last; ok is false where it is not continuous
// or they were not counted yet.
func (f *Frontier) Freshness(id crawl.JobID) (_ crawl.Freshness, ok bool) {
	d, ok := f.book.Freshness(id)
	return d.Freshness, ok
}

// FreshnessDetail is Freshness in parts. Hosts that this process did not ask yet have no name, and are left out.
func (f *Frontier) FreshnessDetail(id crawl.JobID) (_ crawl.FreshnessDetail, ok bool) {
	return f.book.Freshness(id)
}
