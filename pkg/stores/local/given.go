package local

import (
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// given remembers the states that Due has just given out: the pages are put next, and what they were put over need not
// be read again, at a random place among all pages.
type given struct {
	mu     sync.Mutex
	states map[pageOf]revisit.State
	// looking counts the looks that are under way, and meanwhile are the pages that were put since the first of them
	// began: what a look found of them may be of before.
	looking   int
	meanwhile map[pageOf]struct{}
}

// pageOf is a page of a job.
type pageOf struct {
	job jobNum
	key weburl.Key
}

// maxGiven bounds the states that are held, at about 150 octets each.
const maxGiven = 1 << 14

// begin is called before the store is looked into.
func (g *given) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looking++
}

// end is told what a look found.
func (g *given) end(job jobNum, pages []crawl.Revisit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.states)+len(pages) > maxGiven || g.states == nil {
		g.states = make(map[pageOf]revisit.State, min(len(pages), maxGiven))
	}
	for i := range pages[:min(len(pages), maxGiven)] {
		p := pageOf{job, pages[i].URL.Key()}
		if _, put := g.meanwhile[p]; !put {
			g.states[p] = pages[i].State
		}
	}
	if g.looking--; g.looking == 0 {
		clear(g.meanwhile)
	}
}

// take returns what is stored of a page, if that is known. Whoever calls it holds the page's lock until it has called
// put.
func (g *given) take(job jobNum, k weburl.Key) (s revisit.State, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, known = g.states[pageOf{job, k}]
	return s, known
}

// put is told which pages were written, after that, whether it succeeded or not.
func (g *given) put(job jobNum, keys []weburl.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range keys {
		p := pageOf{job, k}
		delete(g.states, p)
		if g.looking > 0 {
			if g.meanwhile == nil {
				g.meanwhile = map[pageOf]struct{}{}
			}
			g.meanwhile[p] = struct{}{}
		}
	}
}
