package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A page is taken out of what is due when the task of its visit is queued. Where that queue is lost, with a node or its
// broker, nobody would visit the page again. So whoever takes over its host, or finds that nothing is queued, makes it
// due once more. The visit that was lost may have been made, as far as its record: its number is left out, and what
// comes of it late is of an earlier visit. Its task may turn up after all, when the node returns: it is dropped then.

// VisitAnew makes pages of a job due whose visits are queued or made by nobody any more, and returns how many they are.
// Pages that are due, or gone, stay as they are.
func (f *Frontier) VisitAnew(ctx context.Context, job crawl.JobID, pages ...weburl.URL) (n int, err error) {
	if f.again.store == nil || len(pages) == 0 {
		return 0, nil
	}
	now := f.again.now()
	err = f.again.change(ctx, job, pages, func(_ int, s *revisit.State) bool {
		if !s.Due.IsZero() || s.Gone || *s == (revisit.State{}) {
			return false
		}
		s.Visits++
		s.Due = now
		n++
		return true
	})
	return n, err
}

// dropOverdue drops tasks of visits in whose place another one is made: see VisitAnew. A page whose content nobody has
// observed, because its first visit was taken back when this one was queued, is asked for as a whole: it may have no
// record.
func (dp *dispatcher) dropOverdue(ctx context.Context, job crawl.JobID, cs []*choice) error {
	if dp.again.store == nil {
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
	states, err := dp.again.store.States(ctx, job, keys...)
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
