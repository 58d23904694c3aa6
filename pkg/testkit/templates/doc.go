// Package templates makes web pages of synthetic templates, each with the values that are to be taken from it: what
// wrapper induction is measured on.
//
// A family is a kind of page (a shop's product, a thread of a forum) written by hand. A site of a family is one
// template: names of classes, wrappers, order of blocks and what else its makers decided once. A page of a site differs
// from the next one in its values, in what is optional, in advertisements, in the order of attributes and in white
// space. The same seeds make the same pages.
//
// The families of Held were written before the inducer, and those of Later after it; it was never tuned on either.
// Those of Practice are what it was tuned on.
package templates

import "math/rand/v2"

// Page is a page of a template.
type Page struct {
	URL    string
	HTML   []byte
	Fields map[string][]string // what a person would copy from it; a field that the page lacks is missing
}

// Family is a kind of page.
type Family struct {
	Name string
	make func(*Site, *page)
}

// Site is a template of a family.
type Site struct {
	Family Family
	Number int
	naming int    // how classes are named
	build  uint64 // of the site's programs: hashed names are another's in another build
	rnd    *rand.Rand
	picks  map[string]int
}

// SitesPerFamily is how many templates a family has.
const SitesPerFamily = 5

// Sites are the templates of some families.
func Sites(families []Family) (all []*Site) {
	for f := range families {
		for i := range SitesPerFamily {
			s := &Site{Family: families[f], Number: i, naming: (f + i) % namings, picks: map[string]int{}}
			s.rnd = rand.New(rand.NewPCG(seedOf(families[f].Name), uint64(i)))
			all = append(all, s)
		}
	}
	return all
}

// Page makes the n-th page of a site. Sites with hashed names of classes get a new build after 200 pages.
func (s *Site) Page(n int) Page {
	s.build = uint64(n / 200)
	p := &page{site: s, rnd: rand.New(rand.NewPCG(seedOf(s.Family.Name)+uint64(s.Number)*7919, uint64(n))), n: n,
		out: Page{Fields: map[string][]string{}}}
	s.Family.make(s, p)
	return p.out
}

// Pick is what the makers of a site decided once under a name: a number below n.
func (s *Site) Pick(what string, n int) int {
	if _, known := s.picks[what]; !known {
		s.picks[what] = rand.New(rand.NewPCG(seedOf(s.Family.Name+"/"+what), uint64(s.Number))).IntN(1 << 20)
	}
	return s.picks[what] % n
}

// Is is what they decided with even chances.
func (s *Site) Is(what string) bool { return s.Pick(what, 2) == 1 }

// seedOf hashes a name (FNV-1a).
func seedOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}
