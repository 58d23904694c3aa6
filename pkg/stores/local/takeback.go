package local

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// TakeBack undoes the results of the fetches that were in flight when the last process ended: their URLs are open again
// and have no records, and are fetched again. Call it before a crawl goes on. Otherwise a page that is fetched again,
// or no longer fetched because the budget is spent elsewhere, would leave one record too many. What was remembered of
// such a page for its next visits goes with its record: else a visit would ask for what has changed since, of a page
// that is nowhere.
func (s *Store) TakeBack(ctx context.Context) error {
	keys := map[crawl.JobID][]weburl.Key{}
	err := s.journal.Load(ctx, func(_ uint64, m bus.Message) error {
		// A page that is visited again keeps its outcome and its record: what was under way is its next visit.
		if f, ok := m.Event.(*crawl.Fetch); ok && f.Task.Kind.InLedger() && f.Task.Visit == 0 {
			keys[f.Task.Job] = append(keys[f.Task.Job], f.Task.URL.Key())
		}
		return nil
	})
	for job, ks := range keys {
		var of *jobFiles
		if err == nil {
			ks, err = s.firstVisits(ctx, job, ks)
		}
		if err == nil {
			of, err = s.filesOf(ctx, job)
		}
		if err == nil {
			err = of.pages.Forget(ctx, ks...)
		}
		if err == nil {
			err = s.Revisits().Drop(ctx, job, ks...)
		}
		if err == nil {
			err = s.urls.Reopen(ctx, job, ks...) // after its record: a URL that is open must have none
		}
	}
	if err != nil {
		return fmt.Errorf("take back the fetches that were under way in %s: %w", s.dir, err)
	}
	return nil
}

// firstVisits leaves out pages of which a later visit has its outcome: their records are of that.
func (s *Store) firstVisits(ctx context.Context, job crawl.JobID, keys []weburl.Key) (first []weburl.Key, err error) {
	entries, err := s.urls.Lookup(ctx, job, keys...)
	for i := range entries {
		if entries[i].Visit == 0 {
			first = append(first, keys[i])
		}
	}
	return first, err
}
