package topic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The training: AdaGrad (Duchi, Hazan, Singer 2011) over shuffled pages, the same number of rounds always. Penalty is
// what each page takes off the weights it touches (L2): without it, a few examples are learned by heart.
//
// What a feature is worth before anything is learned is the logarithm of the ratio of its frequencies in pages of the
// class and in the others, as in naive Bayes; the regression learns how far to go by it (Wang and Manning, "Baselines
// and bigrams", ACL 2012). So a few examples tell rare words of the class from rare words that mean nothing. Where
// there is but a background, whose pages nobody looked at, all features are alike: crawls found no more with ratios.
// So they are where very few pages were looked at: their ratios are small, and pages about the topic came out below
// 0.5.
const (
	rate    = 0.3
	rounds  = 30
	penalty = 1e-4
	tiny    = 1e-8
	// With fewer pages than these all features are alike: with so many, ratios were measured to be better.
	fewYes, fewNo = 5, 20
)

// Labelled are the pages of a class.
type Labelled struct {
	Name  string
	Pages []Vector
}

// Train makes the model of a topic from pages about it (yes), pages that are not (no), and background pages, of which
// some may be: these count a fifth.
func Train(yes, no, background []Vector) (*Model, error) {
	switch {
	case len(yes) == 0:
		return nil, errors.New("a topic needs at least one example")
	case len(no)+len(background) == 0:
		return nil, errors.New("a topic needs pages that are not about it, or a background")
	}
	t := trainer{alike: len(yes) < fewYes || len(no) < fewNo}
	t.add(yes, true, 1)
	t.add(no, false, 1)
	t.add(background, false, backgroundWeight)
	return &Model{[]class{t.class("topic", weights)}}, nil
}

// backgroundWeight is what a background page counts: it was never looked at.
const backgroundWeight = 0.2

// TrainClasses makes a model of several classes, each against all others.
func TrainClasses(classes []Labelled) (*Model, error) {
	if len(classes) < 2 || len(classes) > MaxClasses {
		return nil, fmt.Errorf("%d classes: want 2 to %d", len(classes), MaxClasses)
	}
	m := &Model{}
	for i, c := range classes {
		if len(c.Pages) == 0 || len(c.Name) > MaxName || c.Name == "" {
			return nil, fmt.Errorf("class %q: want a name of at most %d bytes, and at least one page", c.Name, MaxName)
		}
		t := trainer{}
		for j, other := range classes {
			t.add(other.Pages, i == j, 1)
		}
		m.classes = append(m.classes, t.class(c.Name, weights/len(classes)))
	}
	return m, nil
}

type sample struct {
	Vector
	yes    bool
	weight float64
}

type trainer struct {
	samples []sample
	w, g    []float32 // weights, and sums of squared gradients
	ratios  []float32 // of the features: what they are worth; a weight of the model is weight times ratio
	bias    float64
	biasSq  float64
	alike   bool // all features are worth the same before anything is learned
}

func (t *trainer) add(pages []Vector, yes bool, weight float64) {
	for _, v := range pages {
		t.samples = append(t.samples, sample{v, yes, weight})
	}
}

// class trains and keeps the largest weights.
func (t *trainer) class(name string, keep int) class {
	t.ratios = t.logRatios()
	t.balance()
	t.w, t.g = make([]float32, Features), make([]float32, Features)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same order each time is what is wanted
	order := make([]int, len(t.samples))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			t.learn(&t.samples[i])
		}
	}
	for id, r := range t.ratios {
		t.w[id] *= r
	}
	return t.pack(name, keep)
}

// logRatios are those of all features, with one page more of each kind that has the feature, and one that has it not.
func (t *trainer) logRatios() []float32 {
	var pages [2]float64
	var with [2][]float64
	with[0], with[1] = make([]float64, Features), make([]float64, Features)
	for i := range t.samples {
		s, side := &t.samples[i], 0
		if s.yes {
			side = 1
		}
		pages[side] += s.weight
		for _, id := range s.IDs {
			with[side][id] += s.weight
		}
	}
	ratios := make([]float32, Features)
	for id := range ratios {
		if t.alike {
			ratios[id] = 1
		} else if with[0][id]+with[1][id] > 0 {
			ratios[id] = float32(math.Log((with[1][id]+1)/(pages[1]+2)) - math.Log((with[0][id]+1)/(pages[0]+2)))
		}
	}
	return ratios
}

// balance lets the pages about the topic weigh as much together as half of the others, however few they are.
func (t *trainer) balance() {
	var yes, no float64
	for _, s := range t.samples {
		if s.yes {
			yes += s.weight
		} else {
			no += s.weight
		}
	}
	if yes == 0 || no == 0 {
		return
	}
	for i := range t.samples {
		if s := &t.samples[i]; s.yes {
			s.weight *= max(1, no/yes/2)
		}
	}
}

// learn takes one step. Sums are taken in one order, so that they come out alike everywhere.
func (t *trainer) learn(s *sample) {
	norm, sum := s.norm(), 0.0
	for i, id := range s.IDs {
		sum += float64(float64(t.w[id]) * s.value(i) * float64(t.ratios[id]))
	}
	p := logistic(t.bias + float64(sum*norm))
	miss := p * s.weight
	if s.yes {
		miss = (p - 1) * s.weight
	}
	for i, id := range s.IDs {
		g := float64(miss*s.value(i)*norm*float64(t.ratios[id])) + float64(penalty*float64(t.w[id]))
		sq := float64(t.g[id]) + float64(g*g)
		t.g[id] = float32(sq)
		t.w[id] -= float32(rate * g / math.Sqrt(sq+tiny))
	}
	t.biasSq += float64(miss * miss)
	t.bias -= rate * miss / math.Sqrt(t.biasSq+tiny)
}

func (v *Vector) value(i int) float64 {
	if i < v.Title {
		return TitleWeight
	}
	return 1
}

// levels is how finely weights are told apart: the 11 bits of a float16.
const levels = 1<<11 - 1

// pack rounds the weights, and leaves out all but the largest.
func (t *trainer) pack(name string, keep int) class {
	ids := make([]int, 0, Features)
	for id, w := range t.w {
		if w != 0 {
			ids = append(ids, id)
		}
	}
	size := func(id int) float64 { return math.Abs(float64(t.w[id])) }
	slices.SortFunc(ids, func(a, b int) int { return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a, b)) })
	c := class{name: name, bias: float32(t.bias), scale: 1, weights: make([]int16, Features)}
	if len(ids) == 0 {
		return c
	}
	c.scale = float32(size(ids[0]) / levels)
	for _, id := range ids[:min(keep, len(ids))] {
		c.weights[id] = int16(math.RoundToEven(float64(t.w[id]) / float64(c.scale)))
	}
	return c
}
