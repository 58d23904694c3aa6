package frontier_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// mortal is a job that can be deleted.
type mortal struct {
	revised
	deleted atomic.Bool
}

// Job implements crawl.Jobs.
func (m *mortal) Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error) {
	if m.deleted.Load() {
		return nil, fmt.Errorf("job %q: %w", id, crawl.ErrDiscarded)
	}
	return m.revised.Job(ctx, id)
}

// JobAt implements crawl.Jobs.
func (m *mortal) JobAt(ctx context.Context, id crawl.JobID, _ uint32) (*crawl.Job, error) {
	return m.Job(ctx, id)
}

// Tasks of a job that was deleted are dropped wherever they are, its leases free their hosts and keep the delay, and
// nothing of them is recorded. The next life of the job fetches all of its own, the same URLs too.
func TestADeletedJobIsDropped(t *testing.T) {
	for name, told := range map[string]bool{"told": true, "seen": false} {
		for budget := range 2 {
			t.Run(fmt.Sprintf("%s, page budget %d", name, 5*budget), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkDropped(t, told, 5*budget) })
			})
		}
	}
}

func checkDropped(t *testing.T, told bool, budget int) {
	job := aJob("a")
	job.Epoch, job.MaxPages = 1, budget
	w := newWorld(t, 1, job)
	m := &mortal{revised: revised{now: job}}
	w.source = m
	w.answer = func(w *world, f *crawl.Fetch) reply {
		r := fine(w, f)
		r.took = 3 * time.Second
		return r
	}
	w.begin()
	w.add(pages(t, "a", 3, 200)...)
	time.Sleep(10*time.Second + 500*time.Millisecond) // in the middle of requests, where the budget lets there be any
	m.deleted.Store(true)
	if told {
		w.f.Discard("a")
	}
	before := len(w.since(time.Time{})) + w.f.Stats().InFlight
	done := w.disk.pages()
	time.Sleep(5 * time.Minute)
	if s := w.f.Stats(); s.Queued != 0 || s.InFlight != 0 {
		t.Errorf("%d tasks are left, %d leases", s.Queued, s.InFlight)
	}
	if after := len(w.since(time.Time{})); after != before || w.disk.pages() != done {
		t.Errorf("%d requests and %d pages, %d and %d when it was deleted", after, w.disk.pages(), before, done)
	}

	w.disk.mu.Lock()
	clear(w.disk.ledger)
	w.disk.mu.Unlock()
	next := aJob("a")
	next.Epoch, next.First = 2, 2
	m.mu.Lock()
	m.now = next
	m.mu.Unlock()
	m.deleted.Store(false)
	if told {
		w.f.SetJob(next)
	}
	at := time.Now()
	w.add(pages(t, "a", 3, 30)...) // messages of the former life that were late
	tasks := pages(t, "a", 3, 30)
	for i := range tasks {
		tasks[i].Epoch = 2
	}
	w.add(tasks...)
	time.Sleep(time.Hour) // answers take 3 s, so that a host rests for 15
	if n := len(w.since(at)); n != len(tasks) || w.f.Stats().Queued != 0 || w.disk.pages() != n {
		t.Errorf("%d requests in the next life, %d pages, %d tasks are left", n, w.disk.pages(), w.f.Stats().Queued)
	}
	w.stop()
}
