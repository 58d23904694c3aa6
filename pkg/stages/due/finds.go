package due

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A URL that is found again while it waits gets better: after so many finds, a page counting once, its priority rises
// by one, three times at most. Nothing is looked for in the queues, and nothing in them is rewritten. The frontier
// gets a second task of the URL, marked Repeat, which it puts into the queue of the higher priority; whichever of the
// two comes second is dropped. The finds are counted beside the recent URLs (cache.go), so that they cost no memory
// of their own; those of a URL that was pushed out are forgotten, and a restart forgets all.
//
// It rises only if the URL was found outstanding times as often as URLs are on average by then: where all are found as
// often, nothing would be gained by a second task of each.
var risesAt = [...]uint64{4, 16, 64}

const outstanding = 4

// average counts finds, and the URLs that were found.
type average struct{ finds, urls atomic.Int64 }

// below reports whether so many finds are few for a URL.
func (a *average) below(finds int) bool {
	return int64(finds)*max(a.urls.Load(), 1) < outstanding*a.finds.Load()
}

// What a slot of the cache holds besides the mark.
const (
	infoBits   = 20
	infoMask   = 1<<infoBits - 1
	countMask  = 1<<7 - 1  // of the finds
	depthShift = 7         // of the depth at which the URL was claimed
	maxDepth   = 1<<12 - 1 // of a deeper one nothing is counted
	counted    = 1 << 19   // the finds count
)

// claimed notes a URL that was claimed just now. The finds of pages count, but for seeds and targets of redirects:
// these have a place before others already.
func (c *cache) claimed(m uint64, t *crawl.Task) {
	if t.Kind != crawl.KindPage || t.Seed || t.Redirects > 0 || t.Depth < 0 || t.Depth > maxDepth {
		c.add(m)
		return
	}
	c.slots[m&c.mask].Store(m&^infoMask | counted | uint64(t.Depth)<<depthShift)
}

// find counts a find of a URL that the cache has. It returns how often the priority has risen, where it does just now.
func (c *cache) find(m uint64) (rises, finds, depth int) {
	slot := &c.slots[m&c.mask]
	for {
		w := slot.Load()
		n := w & countMask
		if (w^m)>>infoBits != 0 || w&counted == 0 || n >= risesAt[len(risesAt)-1] {
			return 0, 0, 0
		}
		if !slot.CompareAndSwap(w, w+1) {
			continue
		}
		for i, at := range risesAt {
			if n+1 == at {
				return i + 1, int(at), int(w >> depthShift & maxDepth)
			}
		}
		return 0, 0, 0
	}
}

// risen returns the tasks of those URLs that still wait: they are queued once more, with a higher priority.
func (h *Handler) risen(ctx context.Context, job *crawl.Job, found []crawl.Task) ([]crawl.Task, error) {
	if len(found) == 0 {
		return nil, nil
	}
	keys := make([]weburl.Key, len(found))
	for i := range found {
		keys[i] = found[i].URL.Key()
	}
	entries, err := h.deps.Ledger.Lookup(ctx, job.ID, keys...)
	if err != nil {
		return nil, fmt.Errorf("look up %d URLs that were found again, the first %s: %w", len(found), found[0].URL, err)
	}
	open := found[:0]
	for i := range found {
		if entries[i].State == crawl.StateOpen {
			open = append(open, found[i])
		}
	}
	return open, nil
}

// better is the task of a URL that was found again: as deep as when it was claimed, and before others.
func better(job *crawl.Job, t *crawl.Task, rises, finds, depth int) crawl.Task {
	b := *t
	if b.Priority == 0 {
		b.Priority = crawl.DefaultPriority
	}
	b.Priority, b.Finds, b.Depth, b.Repeat = min(b.Priority+rises, job.BestPriority(b.Priority)), finds, depth, true
	return b
}
