package topicbench

import (
	"math/rand/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// draws is over how many draws of examples figures are means.
const draws = 3

// sides are the pages about a topic and the others, of those for training and of those for tests.
type sides struct{ yes, no, testYes, testNo []int }

func (w *Web) sides(is []bool) (s sides) {
	for i := range w.pages {
		switch {
		case !w.counts(i):
		case w.pages[i].test && is[i]:
			s.testYes = append(s.testYes, i)
		case w.pages[i].test:
			s.testNo = append(s.testNo, i)
		case is[i]:
			s.yes = append(s.yes, i)
		default:
			s.no = append(s.no, i)
		}
	}
	return s
}

// pick draws n of some pages; fewer where there are not so many.
func pick(random *rand.Rand, from []int, n int) []int {
	out := make([]int, 0, n)
	for _, at := range random.Perm(len(from))[:min(n, len(from))] {
		out = append(out, from[at])
	}
	return out
}

func (w *Web) vectors(pages []int) []topic.Vector {
	out := make([]topic.Vector, len(pages))
	for i, p := range pages {
		out[i] = w.pages[p].vector
	}
	return out
}

// Quality is how well models of so many examples tell the pages for tests.
type Quality struct {
	Yes, No int
	AUC, F1 float64
}

// Learn trains with 5+20, 20+80 and 100+400 labelled examples.
func (w *Web) Learn(t Topic) (out []Quality, err error) {
	s := w.sides(w.about(t))
	for _, q := range []Quality{{Yes: 5, No: 20}, {Yes: 20, No: 80}, {Yes: 100, No: 400}} {
		for d := range draws {
			random := rand.New(rand.NewPCG(uint64(d), uint64(q.Yes))) //nolint:gosec // the same examples each time
			m, err := topic.Train(w.vectors(pick(random, s.yes, q.Yes)), w.vectors(pick(random, s.no, q.No)), nil)
			if err != nil {
				return nil, err
			}
			js := w.judge(m, s)
			q.AUC += topic.AUC(js) / draws
			q.F1 += topic.F1(js, 0.5) / draws
		}
		out = append(out, q)
	}
	return out, nil
}

func (w *Web) judge(m *topic.Model, s sides) (js []topic.Judged) {
	for _, i := range s.testYes {
		js = append(js, topic.Judged{P: m.Score(0, w.pages[i].vector), Yes: true})
	}
	for _, i := range s.testNo {
		js = append(js, topic.Judged{P: m.Score(0, w.pages[i].vector)})
	}
	return js
}
