package explore

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// An index does not claim to have all while records are still to be copied.
func TestAnIndexTellsOfWhatIsToCome(t *testing.T) {
	w := newWorld(t)
	w.site("c-1")
	var come atomic.Int64
	come.Store(1 << 30)
	x := Open(Options{Dir: filepath.Join(w.dir, "search"), Eager: true,
		Source: func(ctx context.Context, id crawl.JobID) (*Source, error) {
			src, err := w.source(ctx, id)
			if err == nil {
				src.ToCome = come.Load
			}
			return src, err
		}})
	w.run(x)
	caughtUp(t, x, "c-1")
	ix, err := x.Index(t.Context(), "c-1")
	if err != nil || ix.Share <= 0 || ix.Share > .1 || !ix.Building || !ix.Until.IsZero() {
		t.Errorf("a gibibyte is to come: %+v, %v", ix, err)
	}
	come.Store(0)
	for ix.Until.IsZero() && t.Context().Err() == nil {
		if ix, err = x.Index(t.Context(), "c-1"); err != nil {
			t.Fatal(err)
		}
	}
	if ix.Share != 1 || ix.Building {
		t.Errorf("nothing is to come: %+v", ix)
	}
}
