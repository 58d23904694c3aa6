package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A page that is taken back may have its record already: a fetcher that dies behind the page and before the outcome has
// sent it on. Its place in the page budget is another's then, and there is a record more than the budget in the end.
// So where records stay (Deps.Places) a page that is taken back keeps its place until it has an outcome again. It waits
// for no budget, and is the next of its host.

// KeepPlaces notes that pages are to be taken back, before they are.
func (f *Frontier) KeepPlaces(ctx context.Context, tasks ...crawl.Task) error {
	if f.deps.Places == nil {
		return nil
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Kind != crawl.KindPage {
			continue
		}
		js, err := f.jobOf(ctx, t.Job)
		if err != nil {
			return err
		}
		if f.jobNow(js).MaxPages <= 0 {
			continue
		}
		k := t.URL.Key()
		f.mu.Lock()
		js.places.add(k)
		f.mu.Unlock()
		if err := wasDiscarded(f.deps.Places.KeepPlaces(ctx, t.Job, k)); err != nil {
			return fmt.Errorf("frontier: keep the place of %s: %w", t.URL, err)
		}
	}
	return nil
}

// leavePlaces forgets in the store that the pages of outcomes keep their places: they have them by what they are now.
func (f *Frontier) leavePlaces(ctx context.Context, outs []*crawl.Outcome) error {
	if f.deps.Places == nil {
		return nil
	}
	left := map[crawl.JobID][]weburl.Key{}
	f.mu.Lock()
	for _, out := range outs {
		if js := f.jobs.of(out.Task.Job); js != nil && out.Verdict.Final() && js.places.has(&out.Task) {
			left[out.Task.Job] = append(left[out.Task.Job], out.Task.URL.Key())
		}
	}
	f.mu.Unlock()
	for job, keys := range left {
		if err := wasDiscarded(f.deps.Places.LeavePlaces(ctx, job, keys...)); err != nil {
			return fmt.Errorf("frontier: %d pages of job %s that were taken back: %w", len(keys), job, err)
		}
	}
	return nil
}

// leavePlace forgets that a page keeps its place. f.mu is held.
func (f *Frontier) leavePlace(js *jobState, t *crawl.Task) {
	if !js.places.has(t) {
		return
	}
	delete(js.places.kept, t.URL.Key())
	if l, underWay := f.inflight[t.ID()]; underWay && l.js == js && l.placed {
		js.places.leased--
		l.placed = false
		f.inflight[t.ID()] = l
	}
}

// placesOf reads which pages of a job keep their places. Those that have an outcome have theirs by that.
func (f *Frontier) placesOf(ctx context.Context, id crawl.JobID) (p places, err error) {
	if f.deps.Places == nil {
		return p, nil
	}
	keys, err := f.deps.Places.Places(ctx, id)
	if err != nil {
		return p, fmt.Errorf("frontier: pages of job %s that were taken back: %w", id, err)
	}
	entries, err := f.deps.Ledger.Lookup(ctx, id, keys...)
	if err != nil {
		return p, fmt.Errorf("frontier: look up %d pages of job %s that were taken back: %w", len(keys), id, err)
	}
	var ended []weburl.Key
	for i, e := range entries {
		if e.State == crawl.StateDone || e.State == crawl.StateExcluded {
			ended = append(ended, keys[i])
		} else {
			p.add(keys[i])
		}
	}
	if len(ended) == 0 {
		return p, nil
	}
	if err := wasDiscarded(f.deps.Places.LeavePlaces(ctx, id, ended...)); err != nil {
		return p, fmt.Errorf("frontier: %d pages of job %s that were taken back: %w", len(ended), id, err)
	}
	return p, nil
}
