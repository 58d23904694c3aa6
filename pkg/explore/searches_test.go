package explore

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

// written are records that the index of a directory reads.
type written struct{ w *world }

// PutText implements crawl.PageTexts.
func (w written) PutText(_ context.Context, r *crawl.Record) error {
	w.w.pages("d-1", r)
	return nil
}

// The index of a directory finds what PostgreSQL finds.
func TestDirIndexFindsWhatEveryIndexFinds(t *testing.T) {
	storetest.Searches(t, func(t *testing.T) storetest.Searched {
		w := newWorld(t)
		w.pages("d-1")
		d := w.mustOpenDir("d-1")
		return storetest.Searched{PageTexts: written{w}, Find: func(_ crawl.JobID, query string) []string {
			whole(t, d)
			return urlsFound(t, d, RecordFilter{Query: query}, 50)
		}}
	})
}
