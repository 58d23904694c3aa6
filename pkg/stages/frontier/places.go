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
	// forget forgets pages that have an outcome: they have their places by what they are now.
	forget(ctx context.Context, pages endedPages) error
	// read returns the pages of a job that keep their places.
	read(ctx context.Context, id crawl.JobID) (places, error)
}

// newPlaceKeeper returns the frontier's keeper in a store. A nil store: no places are kept.
func newPlaceKeeper(f *Frontier, store crawl.Places) placeKeeper {
	if store == nil {
		return noPlaces{}
	}
	return &storedPlaces{f: f, store: store, turn: make(chan struct{}, 1)}
}

// noPlaces is for a frontier whose records are taken back with their pages.
type noPlaces struct{}

func (noPlaces) keep(context.Context, []crawl.Task) error          { return nil }
func (noPlaces) forget(context.Context, endedPages) error          { return nil }
func (noPlaces) read(context.Context, crawl.JobID) (places, error) { return places{}, nil }

// endedPages are pages that kept their places until they had an outcome, by job.
type endedPages map[crawl.JobID][]weburl.Key

// add adds a page; nil is made.
func (e *endedPages) add(t *crawl.Task) {
	if *e == nil {
		*e = endedPages{}
	}
	(*e)[t.Job] = append((*e)[t.Job], t.URL.Key())
}

// storedPlaces keeps them in a store.
type storedPlaces struct {
	f     *Frontier
	store crawl.Places
	// turn has a value while the store is told, so that it hears of an end after the beginning, as the frontier did.
	turn chan struct{}
}

// inTurn tells the store something.
func (p *storedPlaces) inTurn(ctx context.Context, tell func() error) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	return tell()
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
		if err := p.keepOne(ctx, js, t); err != nil {
			return fmt.Errorf("frontier: keep the place of %s: %w", t.URL, err)
		}
	}
	return nil
}

func (p *storedPlaces) keepOne(ctx context.Context, js *jobState, t *crawl.Task) error {
	return p.inTurn(ctx, func() error {
		p.f.mu.Lock()
		js.places.add(t.URL.Key())
		p.f.mu.Unlock()
		return crawl.UnlessDiscarded(p.store.KeepPlaces(crawl.UnderEpoch(ctx, t.Job, t.Epoch), t.Job, t.URL.Key()))
	})
}

func (p *storedPlaces) forget(ctx context.Context, pages endedPages) error {
	if len(pages) == 0 {
		return nil
	}
	return p.inTurn(ctx, func() error {
		for job, keys := range pages {
			if err := crawl.UnlessDiscarded(p.store.LeavePlaces(ctx, job, keys...)); err != nil {
				return fmt.Errorf("frontier: %d pages of job %s that were taken back: %w", len(keys), job, err)
			}
		}
		return nil
	})
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
	var over []weburl.Key
	for i, e := range entries {
		if e.State == crawl.StateDone || e.State == crawl.StateExcluded {
			over = append(over, keys[i])
		} else {
			kept.add(keys[i])
		}
	}
	if len(over) == 0 {
		return kept, nil
	}
	return kept, p.forget(ctx, endedPages{id: over})
}
