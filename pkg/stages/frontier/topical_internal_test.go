package frontier

import (
	"math/rand/v2"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// lengthsOf are those of front queues that hold tasks.
func lengthsOf(numbers ...int) []int64 {
	lengths := make([]int64, crawl.MaxFront+1)
	for _, n := range numbers {
		lengths[n] = 3
	}
	return lengths
}

func TestATopicalJobDrawsTheBest(t *testing.T) {
	low, high := crawl.Task{Relevance: crawl.RelevanceOf(0.002)}, crawl.Task{Relevance: crawl.RelevanceOf(0.3)}
	random := rand.New(rand.NewPCG(1, 1))
	lengths := lengthsOf(crawl.MinPriority, low.FrontNumber(), high.FrontNumber(), crawl.DefaultPriority)
	for range 100 {
		if got, best := pickTopical(random, lengths, 0); got != high.FrontNumber() || best != got {
			t.Fatalf("drawn from %d, and the best is %d", got, best)
		}
	}
	drawn, explored := map[int]int{}, 0
	const n = 10_000
	for range n {
		got, best := pickTopical(random, lengths, 0.1)
		if drawn[got]++; got != best {
			explored++
		}
		if best != high.FrontNumber() {
			t.Fatalf("the best is %d", best)
		}
	}
	if explored < n/20 || explored > n/5 || drawn[low.FrontNumber()] < n/60 || drawn[crawl.DefaultPriority] < n/60 {
		t.Errorf("drawn %v, want a tenth of all but the highest", drawn)
	}
	if got, _ := pickTopical(random, lengthsOf(), 0.1); got != -1 {
		t.Errorf("drawn from %d, and all are empty", got)
	}
}

// A task that promises more passes those of its host that were drawn before it; one that does not, does not.
func TestPromisingTasksPass(t *testing.T) {
	l := lane{}
	for _, p := range []float64{0.5, 0.5, 0.1, 0.01} {
		l.buf = append(l.buf, crawl.Delivery{Task: crawl.Task{Relevance: crawl.RelevanceOf(p)}})
	}
	for p, want := range map[float64]struct {
		at     int
		passes bool
	}{0.9: {0, true}, 0.5: {2, true}, 0.2: {2, true}, 0.05: {3, true}, 0.01: {4, false}, 0.002: {4, false}} {
		task := crawl.Task{Relevance: crawl.RelevanceOf(p)}
		if at := l.before(task.Rank()); at != want.at || l.passes(&task) != want.passes {
			t.Errorf("P %v: place %d, passes %v; want %+v", p, at, l.passes(&task), want)
		}
	}
	plain := lane{buf: []crawl.Delivery{{Task: crawl.Task{Priority: 1}}}}
	if plain.passes(&crawl.Task{Priority: 3}) {
		t.Error("in a job without a topic a task passes another")
	}
}
