package frontier

import (
	"math/rand/v2"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// New URLs have their share of the draws while revisits wait, whatever the priorities of both; revisits have theirs;
// and a side that has nothing gives its draws away. The control: without revisits priorities decide as before.
func TestDrawsAreSharedByNewURLsAndRevisits(t *testing.T) {
	const draws = 10_000
	for name, c := range map[string]struct {
		again     int
		lengths   [crawl.MaxPriority + 1]int64
		low, high float64 // bounds of the part of priorities 1 and 2
	}{
		"revisits that yield, and new URLs":     {1, [...]int64{0, 9, 0, 0, 9, 0}, .29, .31},
		"lists and seeds, and new URLs":         {1, [...]int64{0, 9, 9, 9, 9, 9}, .29, .31},
		"plain revisits, and better new URLs":   {1, [...]int64{0, 0, 9, 9, 0, 0}, .29, .31},
		"revisits alone":                        {1, [...]int64{0, 0, 0, 9, 0, 9}, 0, 0},
		"new URLs alone":                        {1, [...]int64{0, 9, 9, 0, 0, 0}, 1, 1},
		"no revisits, and new URLs of rules":    {0, [...]int64{0, 9, 0, 0, 9, 0}, .08, .14},
		"no revisits, and new URLs of one sort": {0, [...]int64{0, 0, 9, 0, 0, 0}, 1, 1},
	} {
		j := &jobFronts{}
		for range c.again {
			j.queuedAgain(&crawl.Task{Visit: 1})
		}
		random, low := rand.New(rand.NewPCG(1, 2)), 0
		for range draws {
			n := j.pick(random, c.lengths[:])
			if n < 0 || c.lengths[n] == 0 {
				t.Fatalf("%s: drew from the empty queue %d", name, n)
			}
			if n < 3 {
				low++
			}
		}
		if part := float64(low) / draws; part < c.low || part > c.high {
			t.Errorf("%s: new URLs have %.3f of the draws, want %v to %v", name, part, c.low, c.high)
		}
	}
	j := &jobFronts{}
	j.drewAgain([]crawl.Delivery{{Task: crawl.Task{Visit: 2}}, {}}) // queued before the start
	if j.queuedAgain(&crawl.Task{}); j.again != 0 {
		t.Errorf("%d revisits are counted", j.again)
	}
}
