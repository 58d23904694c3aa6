package revisits

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Config is what a Book works with.
type Config struct {
	Store    crawl.Revisits // nil: pages are visited once
	Calendar revisit.Calendar
	// Owns reports whether a page is visited by this node; nil: there is one node. All nodes count the pages of all, if
	// the store is a crawl.SharedRevisits.
	Owns func(weburl.URL) bool
	Wake func() // is called when thresholds have changed, and pages may be due
	Log  *slog.Logger
}

// Book remembers the pages of continuous jobs. What is remembered of a page is changed by its outcome, by what its
// content tells, and when it is taken to be visited: each reads, decides and puts while it holds the lock of the page.
type Book struct {
	cfg     Config
	locks   [64]sync.Mutex // of pages, by their keys
	running sync.WaitGroup // of looks at all pages

	mu   sync.Mutex
	jobs map[crawl.JobID]*Job
	// active are those that were looked at last: of the others nothing is due.
	active []*Job
}

// New returns a book that knows no job yet.
func New(cfg Config) *Book { return &Book{cfg: cfg, jobs: map[crawl.JobID]*Job{}} }

// On reports whether pages are visited again at all.
func (b *Book) On() bool { return b.cfg.Store != nil }

// Now is what the calendar shows.
func (b *Book) Now() time.Time { return b.cfg.Calendar.At(time.Now()) }

// Job returns how the pages of a job are visited again, by this revision of it; nil: they are not, or a later life of
// the job has begun. A job whose weights are wrong is a permanent error.
func (b *Book) Job(job *crawl.Job) (*Job, error) {
	if !b.On() {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[job.ID]
	switch lives := j.livesSince(job); {
	case lives < 0: // a former life of the job, which was deleted: nothing of it counts for this one
		j = nil
	case lives > 0: // a later one has begun
		return nil, nil
	}
	if !job.Revisits() {
		j.rest(job)
		return nil, nil
	}
	if j == nil {
		j = newJob(b, job.ID)
		b.jobs[job.ID] = j
	}
	if err := j.revise(job); err != nil {
		return nil, err
	}
	return j, nil
}

// Continuous reports whether the pages of a job that was met are visited again.
func (b *Book) Continuous(id crawl.JobID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	return j != nil && j.continuous()
}

// TaskOf is what the ledger keeps to visit the URL of an outcome again; nil: nothing. What was visited again stays so
// while its job visits URLs once: it may become continuous again.
func (b *Book) TaskOf(out *crawl.Outcome) *crawl.Task {
	if out.Verdict != crawl.VerdictDone || !Visited(out) || out.Task.Visit == 0 && !b.Continuous(out.Task.Job) {
		return nil
	}
	return Kept(out.Task)
}

// States returns what is remembered of pages, in their order; the zero State: nothing.
func (b *Book) States(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]revisit.State, error) {
	return b.cfg.Store.States(ctx, job, keys...)
}

// SetActive notes the jobs whose pages may be due.
func (b *Book) SetActive(active []*Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = active
}

// Pause is how long from now it is not looked for what is due: a second at most.
func (b *Book) Pause(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := lookMost
	for _, j := range b.active {
		wait = min(wait, max(j.look().Sub(now), lookLeast))
	}
	return wait
}

// RingChanged has the shares of the nodes counted anew.
func (b *Book) RingChanged() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		j.mu.Lock()
		j.moved = true
		j.mu.Unlock()
	}
}

// Close waits for the counts that are under way, and stores what was learned of hosts: for ten seconds, however ctx
// ends.
func (b *Book) Close(ctx context.Context) {
	b.running.Wait()
	if b.On() {
		b.saveAllHabits(ctx)
	}
}

// lock locks pages, in the order of their locks; the returned function unlocks them.
func (b *Book) lock(keys ...weburl.Key) (unlock func()) {
	held := make([]byte, 0, len(keys))
	for i := range keys {
		held = append(held, keys[i][len(keys[i])-1]%byte(len(b.locks)))
	}
	slices.Sort(held)
	held = slices.Compact(held)
	for _, i := range held {
		b.locks[i].Lock()
	}
	return func() {
		for _, i := range held {
			b.locks[i].Unlock()
		}
	}
}

// change reads what is remembered of pages, lets each decide, and puts what it returns true for.
func (b *Book) change(ctx context.Context, job crawl.JobID, urls []weburl.URL,
	each func(i int, s *revisit.State) bool) error {
	keys := make([]weburl.Key, len(urls))
	for i := range urls {
		keys[i] = urls[i].Key()
	}
	defer b.lock(keys...)()
	states, err := b.cfg.Store.States(ctx, job, keys...)
	if err != nil {
		return fmt.Errorf("frontier: %d pages between their visits, the first %s: %w", len(urls), urls[0], err)
	}
	var put []crawl.Revisit
	for i := range states {
		if each(i, &states[i]) {
			put = append(put, crawl.Revisit{URL: urls[i], State: states[i]})
		}
	}
	if len(put) == 0 {
		return nil
	}
	if err := crawl.UnlessDiscarded(b.cfg.Store.Put(ctx, job, put...)); err != nil {
		return fmt.Errorf("frontier: %d pages between their visits, the first %s: %w", len(put), put[0].URL, err)
	}
	return nil
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
