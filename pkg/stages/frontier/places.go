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

// placeKeeper remembers the pages that keep their places over a restart.
type placeKeeper interface {
	// keep notes that pages are to be taken back.
	keep(ctx context.Context, tasks []crawl.Task) error
	// leave forgets the pages of outcomes: they have their places by what they are now.
	leave(ctx context.Context, outs []*crawl.Outcome) error
	// read returns the pages of a job that keep their places.
	read(ctx context.Context, id crawl.JobID) (places, error)
}

// newPlaceKeeper returns the frontier's keeper in a store; nil: nobody keeps a place.
func newPlaceKeeper(f *Frontier, store crawl.Places) placeKeeper {
	if store == nil {
		return noPlaces{}
	}
	return &storedPlaces{f, store}
}

// noPlaces is for a frontier whose records are taken back with their pages.
type noPlaces struct{}

func (noPlaces) keep(context.Context, []crawl.Task) error          { return nil }
func (noPlaces) leave(context.Context, []*crawl.Outcome) error     { return nil }
func (noPlaces) read(context.Context, crawl.JobID) (places, error) { return places{}, nil }

// storedPlaces keeps them in a store.
type storedPlaces struct {
	f     *Frontier
	store crawl.Places
}

// KeepPlaces notes that pages are to be taken back, before they are.
func (f *Frontier) KeepPlaces(ctx context.Context, tasks ...crawl.Task) error {
	return f.places.keep(ctx, tasks)
}

func (p *storedPlaces) keep(ctx context.Context, tasks []crawl.Task) error {
	f := p.f
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
		if err := wasDiscarded(p.store.KeepPlaces(ctx, t.Job, k)); err != nil {
			return fmt.Errorf("frontier: keep the place of %s: %w", t.URL, err)
		}
	}
	return nil
}

func (p *storedPlaces) leave(ctx context.Context, outs []*crawl.Outcome) error {
	f := p.f
	left := map[crawl.JobID][]weburl.Key{}
	f.mu.Lock()
	for _, out := range outs {
		if js := f.jobs.of(out.Task.Job); js != nil && out.Verdict.Final() && js.places.has(&out.Task) {
			left[out.Task.Job] = append(left[out.Task.Job], out.Task.URL.Key())
		}
	}
	f.mu.Unlock()
	for job, keys := range left {
		if err := wasDiscarded(p.store.LeavePlaces(ctx, job, keys...)); err != nil {
			return fmt.Errorf("frontier: %d pages of job %s that were taken back: %w", len(keys), job, err)
		}
	}
	return nil
}

// read leaves out, and forgets, pages that have an outcome: they have their places by that.
func (p *storedPlaces) read(ctx context.Context, id crawl.JobID) (kept places, err error) {
	f := p.f
	keys, err := p.store.Places(ctx, id)
	if err != nil {
		return kept, fmt.Errorf("frontier: pages of job %s that were taken back: %w", id, err)
	}
	entries, err := f.deps.Ledger.Lookup(ctx, id, keys...)
	if err != nil {
		return kept, fmt.Errorf("frontier: look up %d pages of job %s that were taken back: %w", len(keys), id, err)
	}
	var ended []weburl.Key
	for i, e := range entries {
		if e.State == crawl.StateDone || e.State == crawl.StateExcluded {
			ended = append(ended, keys[i])
		} else {
			kept.add(keys[i])
		}
	}
	if len(ended) == 0 {
		return kept, nil
	}
	if err := wasDiscarded(p.store.LeavePlaces(ctx, id, ended...)); err != nil {
		return kept, fmt.Errorf("frontier: %d pages of job %s that were taken back: %w", len(ended), id, err)
	}
	return kept, nil
}
