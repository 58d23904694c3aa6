package topicbench

import (
	"container/heap"
	"math/rand/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// Examples is how many examples a crawl has.
const Examples = 5

// Order names an order in which a crawl fetches pages.
type Order string

// The orders that are compared.
const (
	Breadth Order = "breadth first"
	Best    Order = "best first" // by P of the page that links to it, or of the link's text
	Classes Order = "as crawled" // the same by levels of promise, and by the first find
	Oracle  Order = "if all were known"
)

// early is how many pages of the beginning of a crawl a model knows.
var early = topic.Lesson(0)

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
	l := learner{w: w, examples: w.vectors(examples)}
	if order == Best || order == Classes {
		l.model, err = topic.Train(l.examples, nil, w.beginning(given))
	}
	w.walk(w.seeds, order, explore, random, func(i int) float64 {
		switch {
		case order == Oracle && is[i]:
			return 1
		case order == Oracle || order == Breadth:
			return 0
		}
		return l.score(i)
	}, l.promise, func(i int) {
		if !given[i] {
			hits = append(hits, is[i])
		}
	})
	return hits, err
}

// learner has the model of a crawl.
type learner struct {
	w        *Web
	examples []topic.Vector
	model    *topic.Model // nil: none
}

// score is how likely a page is about the topic.
func (l *learner) score(i int) float64 { return l.model.Score(0, l.w.pages[i].vector) }

// promise is what the text of a link says of the page that it leads to.
func (l *learner) promise(page, link int) float64 {
	v := l.w.pages[page].texts[link]
	if l.model == nil || len(v.IDs) == 0 {
		return 0
	}
	return topic.LinkText * l.model.Score(0, v)
}

// beginning are the first pages of a crawl, breadth first: those from which a crawl learns what is not the topic.
func (w *Web) beginning(given map[int]bool) (first []topic.Vector) {
	w.walk(w.seeds, Breadth, 0, nil, func(int) float64 { return 0 }, func(int, int) float64 { return 0 }, func(i int) {
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

// walk fetches pages that can be reached. A page that is found again by a better one moves up, but not in a crawl
// with classes: there the first find counts.
func (w *Web) walk(seeds []int, order Order, explore float64, random *rand.Rand, score func(int) float64,
	promise func(page, link int) float64, fetched func(int)) {
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
	for _, s := range seeds {
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
		for i, to := range w.pages[next.page].links {
			link := max(p, promise(next.page, i))
			switch order {
			case Oracle:
				link = score(to)
			case Classes:
				link = float64(crawl.RelevanceOf(link).Level()) / crawl.Levels
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
