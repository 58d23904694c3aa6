package induce

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bounds of the search for one field.
const (
	maxCandidates = 4000
	maxGood       = 60 // that give what is wanted
	maxPartly     = 60 // that give it on some examples, to be joined
	few           = 2
	tooDear       = 7.0 // more than the cheapest good one: such are not looked at any more
)

// search is the state of the search for one field.
type search struct {
	*field
	good   []*fitted
	partly []part
}

// part is a candidate that matches on some of the examples only.
type part struct {
	c     *candidate
	texts [][]string
}

// search tries candidates, the cheapest first.
func (f *field) search(all []candidate) (*search, error) {
	s := &search{field: f}
	elements := 0
	for _, t := range f.trees {
		elements += len(t.nodes)
	}
	most := max(50, min(maxCandidates, maxLooks/max(elements, 1)))
	cheapest := math.Inf(1)
	for i := range all[:min(len(all), most)] {
		c := &all[i]
		if len(s.good) >= maxGood || c.cost > cheapest+tooDear {
			break
		}
		if !c.ready() {
			continue
		}
		texts := make([][]string, len(f.trees))
		for j, t := range f.trees {
			var err error
			if texts[j], err = c.hits(t, f.stop); err != nil {
				return nil, err
			}
		}
		if g := f.fit(c, texts); g != nil {
			s.good = append(s.good, g)
			cheapest = min(cheapest, g.total)
		} else if len(s.partly) < maxPartly && f.partly(texts) {
			s.partly = append(s.partly, part{c, texts})
		}
	}
	return s, nil
}

// partly tells whether texts are right on some examples, and nothing on the others.
func (f *field) partly(texts [][]string) (some bool) {
	for i, w := range f.want {
		if w == nil || len(*w) == 0 || len(texts[i]) == 0 {
			continue
		}
		if _, ok := f.pairs(f.trees[i], texts[i], *w); !ok {
			return false
		}
		some = true
	}
	return some
}

// join makes a selector of two where no single one does: pages of a template may differ.
func (s *search) join() {
	for i, a := range s.partly {
		for _, b := range s.partly[i+1:] {
			if a.c.attr != b.c.attr || len(s.good) >= maxGood {
				continue
			}
			texts, use := make([][]string, len(s.trees)), true
			for j := range texts {
				// Where both match, only the page itself says which comes first.
				use = use && (len(a.texts[j]) == 0 || len(b.texts[j]) == 0)
				texts[j] = slices.Concat(a.texts[j], b.texts[j])
			}
			c := &candidate{css: a.c.css + ", " + b.c.css, attr: a.c.attr, cost: a.c.cost + b.c.cost,
				why: a.c.why + "; or " + b.c.why}
			if !use || !c.ready() {
				continue
			}
			if g := s.fit(c, texts); g != nil {
				s.good = append(s.good, g)
			}
		}
	}
}

// seeds are the places from which candidates are made: those of the first value on the example where there are the
// fewest, as far as all examples have a value at such a place.
func (f *field) seeds() (best []spot, lacks []Lack) {
	type kind struct{ tag, attr string }
	var all [][]spot
	kinds := map[kind]int{}
	for i, w := range f.want {
		if w == nil || len(*w) == 0 {
			continue
		}
		for j, v := range *w {
			spots := f.trees[i].spots(v)
			if len(spots) == 0 {
				lacks = append(lacks, Lack{f.trees[i].page.Name, v, f.trees[i].nearest(v)})
			}
			if j > 0 {
				continue
			}
			all = append(all, spots)
			seen := map[kind]bool{}
			for _, s := range spots {
				if k := (kind{s.node.Data, s.attr}); !seen[k] {
					seen[k] = true
					kinds[k]++
				}
			}
		}
	}
	if len(lacks) > 0 {
		return nil, lacks
	}
	for _, spots := range all {
		common := slices.DeleteFunc(slices.Clone(spots),
			func(s spot) bool { return kinds[kind{s.node.Data, s.attr}] < len(all) })
		if len(common) == 0 {
			common = spots // pages of two kinds, perhaps
		}
		if best == nil || len(common) < len(best) {
			best = common
		}
	}
	return best, nil
}

// all are the candidates of a field, the cheapest first.
func (f *field) candidates(seeds []spot, more bool) []candidate {
	var all []candidate
	for _, s := range seeds {
		all = append(all, candidates(s)...)
	}
	if more {
		for i, w := range f.want {
			if w != nil && len(*w) > 0 {
				spots := f.trees[i].spots((*w)[0])
				for _, s := range spots[:min(len(spots), 20)] {
					all = append(all, candidates(s)...)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.css), len(b.css)), strings.Compare(a.css, b.css),
			strings.Compare(a.attr, b.attr))
	})
	return distinct(all)
}

// choose finds the selector of a field.
func (f *field) choose(also []*tree) (out Field, err error) {
	out.Rule.Name = f.name
	seeds, lacks := f.seeds()
	if len(lacks) > 0 {
		out.Lacks = lacks
		return out, nil
	}
	s, err := f.search(f.candidates(seeds, false))
	if err == nil && len(s.good) == 0 {
		if s, err = f.search(f.candidates(seeds, true)); err == nil && len(s.good) == 0 {
			s.join()
		}
	}
	if err != nil || len(s.good) == 0 {
		return out, err
	}
	if err := s.agree(also); err != nil {
		return out, err
	}
	slices.SortStableFunc(s.good, func(a, b *fitted) int {
		return cmp.Or(cmp.Compare(a.total+a.more, b.total+b.more), cmp.Compare(len(a.css), len(b.css)),
			strings.Compare(a.css, b.css))
	})
	for _, g := range s.good {
		if f.verified(g) {
			s.tell(&out, g, also)
			return out, nil
		}
	}
	return out, nil
}

// agree applies the good candidates to further pages. Those that take the same from all of them are one voice, as loud
// as the best of them. A candidate is better the more of the voices agree with it, and where it takes one value from a
// page.
func (s *search) agree(also []*tree) error {
	slices.SortStableFunc(s.good, func(a, b *fitted) int { return cmp.Compare(a.total, b.total) })
	if len(also) == 0 {
		return nil
	}
	voices := map[string][]*fitted{}
	for _, g := range s.good {
		var all []string
		for _, t := range also {
			texts, err := g.hits(t, s.stop)
			if err != nil {
				return err
			}
			got := values(&g.form, texts)
			g.also = append(g.also, got)
			all = append(all, s.key(got))
		}
		voice := strings.Join(all, "\x01")
		voices[voice] = append(voices[voice], g)
	}
	most := 0
	for _, g := range s.good {
		most = max(most, s.once(g))
	}
	for _, g := range s.good {
		s.vote(g, voices)
		several := 0
		for _, got := range g.also {
			if !s.list && len(got) > 1 {
				several++
			}
		}
		n := float64(len(also))
		g.more = costDisagrees*(1-g.agree) + costSeveral*float64(several)/n +
			costMissing*float64(max(0, most-s.once(g)-several))/(n+few) // of few pages one that lacks it says little
	}
	return nil
}

// once is on how many further pages a candidate takes one value, or a list.
func (s *search) once(g *fitted) (n int) {
	for _, got := range g.also {
		if len(got) == 1 || s.list && len(got) > 1 {
			n++
		}
	}
	return n
}

// vote asks the voices how far they agree with a candidate, where both take something.
func (s *search) vote(g *fitted, voices map[string][]*fitted) {
	var yes, all float64
	for _, v := range sortedValues(voices) {
		same, votes := 0, 0
		for i, got := range v[0].also {
			if len(got) == 0 || len(g.also[i]) == 0 {
				continue
			}
			if votes++; s.key(g.also[i]) == s.key(got) {
				same++
			}
		}
		if votes > 0 {
			weight := math.Exp((s.good[0].total - v[0].total) / 3)
			yes += weight * float64(same) / float64(votes)
			all += weight
		}
	}
	if g.agree = 1; all > 0 {
		g.agree = yes / all
	}
}

// sortedValues are the values of a map in the order of its keys: sums of floats depend on their order.
func sortedValues(m map[string][]*fitted) (out [][]*fitted) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

// key is what a page gives, as one text.
func (s *search) key(got []string) string { return strings.Join(got[:s.most(len(got))], "\x00") }

// tell fills in what is known of the chosen candidate.
func (s *search) tell(out *Field, g *fitted, also []*tree) {
	out.Rule, out.Found, out.Why, out.Agree = g.rule(s.name), true, g.why, g.agree
	if g.form.why != "" {
		out.Why += "; " + g.form.why
	}
	for i, t := range s.trees {
		out.Values = append(out.Values, Extracted{t.page.Name, append([]string{}, g.values[i]...)})
	}
	for _, got := range g.also {
		if len(got) > 0 {
			out.OnAlso++
		}
		if len(got) == 1 {
			out.Once++
		}
	}
	for _, o := range s.good {
		if o != g && len(out.Others) < 3 {
			out.Others = append(out.Others, Other{o.rule(s.name), o.why})
		}
	}
	s.notes(out, g, len(also))
}

// notes say what people should know of a choice.
func (s *search) notes(out *Field, g *fitted, also int) {
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if g.address {
		note("the record has the address as it stands in the page, not the whole one")
	}
	if g.form.kind != "" {
		note("the record has it %s", g.form.why)
	}
	if g.cost >= costHash {
		note("nothing better than places and names that programs made: it breaks when the site is built anew")
	}
	if also > 0 && out.OnAlso*5 < also*4 {
		note("only %d of %d further pages have it", out.OnAlso, also)
	}
	for i, w := range s.want {
		if w == nil && len(g.values[i]) > 0 {
			note("it takes %q from %s, for which no value was given", g.values[i][0], s.trees[i].page.Name)
		}
	}
}
