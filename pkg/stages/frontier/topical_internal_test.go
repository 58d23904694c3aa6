package frontier

import (
	"math/rand/v2"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestATopicalJobDrawsTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	lengths := []int64{0, 7, 3, 0, 2, 0}
	for range 100 {
		if got := pickTopical(random, lengths, 0); got != 4 {
			t.Fatalf("drawn from %d", got)
		}
	}
	drawn := map[int]int{}
	const n = 10_000
	for range n {
		drawn[pickTopical(random, lengths, 0.1)]++
	}
	if drawn[4]+drawn[1] != n || drawn[1] < n/20 || drawn[1] > n/5 {
		t.Errorf("drawn %v, want a tenth of the lowest, and the highest", drawn)
	}
	if got := pickTopical(random, make([]int64, 6), 0.1); got != -1 {
		t.Errorf("drawn from %d, and all are empty", got)
	}
}

// A task that promises more passes those of its host that were drawn before it; one that does not, does not.
func TestPromisingTasksPass(t *testing.T) {
	l := lane{}
	for _, p := range []int{4, 4, 2, 1} {
		l.buf = append(l.buf, crawl.Delivery{Task: crawl.Task{Priority: p}})
	}
	for p, want := range map[int]struct {
		at     int
		passes bool
	}{5: {0, true}, 4: {2, true}, 3: {2, true}, 2: {3, true}, 1: {4, false}} {
		task := crawl.Task{Priority: p}
		if at := l.before(p); at != want.at || l.passes(&task) != want.passes {
			t.Errorf("priority %d: place %d, passes %v; want %+v", p, at, l.passes(&task), want)
		}
	}
}
