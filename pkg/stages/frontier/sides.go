package frontier

import (
	"math/rand/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Revisits wait in the front queues of high priorities, new URLs mostly in those of low ones. Where revisits yield new
// links, new URLs would have one draw in nine or fewer, and their backlog would stand for long. So while both wait, new
// URLs have discoveryShare of the draws: from .3 on any share is as good as another (docs/design/freshness.md).
const discoveryShare = .3

// sides are the two sides between which the draws of a continuous job are shared. The zero value has no revisits.
type sides struct {
	again  int64 // revisits in the front queues, as far as they were queued since the start
	shares *revisit.Shares
}

// queuedAgain counts a task that was queued, if it is a revisit.
func (s *sides) queuedAgain(t *crawl.Task) {
	if t.Visit > 0 {
		s.again++
	}
}

// drewAgain counts those that were drawn.
func (s *sides) drewAgain(ds []crawl.Delivery) {
	for i := range ds {
		if ds[i].Task.Visit > 0 {
			s.again = max(s.again-1, 0)
		}
	}
}

// pick chooses a front queue of those that are not empty. lengths are by priority.
func (s *sides) pick(random *rand.Rand, lengths []int64) int {
	low := lengths[:revisit.PriorityPlain]
	if s.again == 0 || pickFront(random, low) < 0 {
		return pickFront(random, lengths)
	}
	if s.shares == nil {
		shares := revisit.NewShares(discoveryShare)
		s.shares = &shares
	}
	high := append(make([]int64, len(low), len(lengths)), lengths[len(low):]...)
	if from := pickFront(random, high); from >= 0 && !s.shares.Discover(true, true) {
		return from
	}
	return pickFront(random, low)
}
