package revisits

import (
	"context"
	"time"

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
func (b *Book) VisitAnew(ctx context.Context, job crawl.JobID, pages ...weburl.URL) (n int, err error) {
	if !b.On() || len(pages) == 0 {
		return 0, nil
	}
	now := b.Now()
	err = b.change(ctx, job, pages, func(_ int, s *revisit.State) bool {
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

// Queued notes that the next visit of a page is queued because the last one was cut short: it is not due besides.
func (b *Book) Queued(ctx context.Context, t *crawl.Task) error {
	if !b.On() {
		return nil
	}
	return b.change(ctx, t.Job, []weburl.URL{t.URL}, func(_ int, s *revisit.State) bool {
		if s.Visits > uint32(t.Visit) || s.Due.IsZero() {
			return false
		}
		s.Due = time.Time{}
		return true
	})
}
