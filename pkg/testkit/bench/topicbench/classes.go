package topicbench

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/topic"
)

// perClass is how many pages of each class a model is made of.
const perClass = 60

// other is the class of the pages that are about none of the topics.
const other = "other"

// Sorted is how well a model sorts the pages of a class.
type Sorted struct {
	Name              string
	Pages             int // for tests
	Precision, Recall float64
}

// Classify makes models of several classes, a topic each and one for the rest, of pages for training, and sorts those
// for tests: a page counts for the class that is the likeliest. Figures are means of three draws.
func (w *Web) Classify(topics []Topic) (out []Sorted, accuracy float64, err error) {
	classes := w.classes(topics)
	out = make([]Sorted, len(classes))
	for d := range draws {
		random := rand.New(rand.NewPCG(uint64(d), perClass)) //nolint:gosec // the same pages each time
		labelled := make([]topic.Labelled, len(classes))
		for i, c := range classes {
			labelled[i] = topic.Labelled{Name: c.name, Pages: w.vectors(pick(random, c.train, perClass))}
		}
		m, err := topic.TrainClasses(labelled)
		if err != nil {
			return nil, 0, err
		}
		accuracy += w.sort(m, classes, out) / draws
	}
	return out, accuracy, nil
}

// class is a class with its pages.
type class struct {
	name        string
	train, test []int
}

// classes are the topics and the rest. A page that is about several topics is in none.
func (w *Web) classes(topics []Topic) []class {
	classes := make([]class, len(topics)+1)
	about := make([]int, len(w.pages))
	for i, t := range topics {
		classes[i].name = t.Name
		for p, is := range w.about(t) {
			if is {
				about[p] |= 1 << i
			}
		}
	}
	classes[len(topics)].name = other
	for p, mask := range about {
		at := len(topics)
		for i := range topics {
			if mask == 1<<i {
				at = i
			}
		}
		if !w.counts(p) || mask != 0 && at == len(topics) {
			continue
		}
		if c := &classes[at]; w.pages[p].test {
			c.test = append(c.test, p)
		} else {
			c.train = append(c.train, p)
		}
	}
	return classes
}

// sort sorts the pages for tests, adds to what is known of each class, and returns the part that is right.
func (w *Web) sort(m *topic.Model, classes []class, out []Sorted) (accuracy float64) {
	said, right, all := make([]int, len(classes)), make([]int, len(classes)), 0
	for i := range classes {
		all += len(classes[i].test)
		for _, p := range classes[i].test {
			best, most := 0, -1.0
			for c := range classes {
				if s := m.Score(c, w.pages[p].vector); s > most {
					best, most = c, s
				}
			}
			if said[best]++; best == i {
				right[i]++
				accuracy++
			}
		}
	}
	for i := range classes {
		out[i].Name, out[i].Pages = classes[i].name, len(classes[i].test)
		out[i].Precision += float64(right[i]) / float64(max(said[i], 1)) / draws
		out[i].Recall += float64(right[i]) / float64(max(len(classes[i].test), 1)) / draws
	}
	return accuracy / float64(max(all, 1))
}

// printClasses measures the classifier and prints it.
func (w *Web) printClasses(out io.Writer, topics []Topic) error {
	if len(topics) < 2 {
		return nil
	}
	sorted, accuracy, err := w.Classify(topics)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nclasses, %d pages of each to learn from: %.3f of the pages are sorted right\n", perClass, accuracy)
	for _, s := range sorted {
		fmt.Fprintf(out, "  %-14s %5d pages   precision %.3f   recall %.3f\n", s.Name, s.Pages, s.Precision, s.Recall)
	}
	return nil
}
