package topicbench

import (
	"container/heap"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Examples is how many examples a crawl has.
const Examples = 5

// Order names an order in which a crawl fetches pages.
type Order string

// The orders that are compared.
const (
	Breadth Order = "breadth first"
	Learned Order = "best first, as it learns"    // by P of the page that links to it; the background is what was fetched so far
	Classes Order = "as crawled"                  // the same by five priorities
	Early   Order = "best first, 400 known pages" // the background is the beginning of another crawl
	Oracle  Order = "if all were known"
)

// early is how many pages of another crawl's beginning are known.
const early = 400

// Crawl crawls the web with the examples of a draw, and tells of each page, in order, whether it is about the topic.
// Examples are fetched, and not counted.
func (w *Web) Crawl(t Topic, order Order, explore float64, draw int) (hits []bool, err error) {
	is := w.about(t)
	random := rand.New(rand.NewPCG(uint64(draw), Examples)) //nolint:gosec // the same examples each time
	examples := pick(random, w.sides(is).yes, Examples)
	given := map[int]bool{}
	for _, i := range examples {
		given[i] = true
	}
	l := learner{w: w, order: order, examples: w.vectors(examples)}
	if order == Early {
		err = l.learn(w.beginning(given))
	}
	w.walk(order, explore, random, func(i int) float64 {
		switch {
		case order == Oracle && is[i]:
			return 1
		case order == Oracle || order == Breadth:
			return 0
		}
		return l.score(i)
	}, func(i int) {
		if !given[i] {
			hits = append(hits, is[i])
			err = errors.Join(err, l.fetched(i))
		}
	})
	return hits, err
}

// learner makes models while a crawl goes on, as the crawler does.
type learner struct {
	w        *Web
	order    Order
	examples []topic.Vector
	seen     []topic.Vector // the first pages that were fetched
	model    *topic.Model   // nil: there is none yet
}

func (l *learner) learn(background []topic.Vector) (err error) {
	l.model, err = topic.Train(l.examples, nil, background)
	return err
}

// score is a half where nothing is known: the order of finding decides.
func (l *learner) score(i int) float64 {
	if l.model == nil {
		return 0.5
	}
	return l.model.Score(0, l.w.pages[i].vector)
}

// fetched learns from a page that was fetched, where the crawler would.
func (l *learner) fetched(i int) error {
	if l.order != Learned && l.order != Classes || len(l.seen) > topic.Lessons[len(topic.Lessons)-1] {
		return nil
	}
	l.seen = append(l.seen, l.w.pages[i].vector)
	if !slices.Contains(topic.Lessons, len(l.seen)) {
		return nil
	}
	return l.learn(l.seen)
}

// beginning are the first pages of a crawl, breadth first.
func (w *Web) beginning(given map[int]bool) (first []topic.Vector) {
	w.walk(Breadth, 0, nil, func(int) float64 { return 0 }, func(i int) {
		if len(first) < early && !given[i] {
			first = append(first, w.pages[i].vector)
		}
	})
	return first
}

// waiting is a page that was found and is not fetched yet.
type waiting struct {
	page int
	p    float64
	at   int // when it was found
}

type queue []waiting

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].p > q[j].p || q[i].p == q[j].p && q[i].at < q[j].at
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(waiting)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// enough is after how many pages a crawl ends: no figure is of more.
const enough = 2100

// classes is how many priorities there are.
const classes = 5

// walk fetches pages that can be reached. A page that is found again by a better one moves up, but not in a crawl
// with classes: there the first find counts.
func (w *Web) walk(order Order, explore float64, random *rand.Rand, score func(int) float64, fetched func(int)) {
	q, best, done, found := &queue{}, make([]float64, len(w.pages)), make([]bool, len(w.pages)), 0
	for i := range best {
		best[i] = -1
	}
	push := func(i int, p float64) {
		if done[i] || p <= best[i] || order == Classes && best[i] >= 0 {
			return
		}
		best[i] = p
		heap.Push(q, waiting{i, p, found})
		found++
	}
	for _, s := range w.seeds {
		push(s, 1)
	}
	for fetches := 0; q.Len() > 0 && fetches < enough; {
		next := q.draw(explore, random)
		if done[next.page] {
			continue
		}
		done[next.page] = true
		fetches++
		fetched(next.page)
		p := score(next.page)
		for _, to := range w.pages[next.page].links {
			link := p
			switch order {
			case Oracle:
				link = score(to)
			case Classes:
				link = math.Floor((max(math.Ceil(9*p), 1)-1)/2) / classes
			}
			push(to, link)
		}
	}
}

// draw takes the best page, or by chance one of the lesser half.
func (q *queue) draw(explore float64, random *rand.Rand) waiting {
	if explore <= 0 || random.Float64() >= explore {
		return heap.Pop(q).(waiting)
	}
	return heap.Remove(q, q.Len()/2+random.IntN((q.Len()+1)/2)).(waiting)
}
