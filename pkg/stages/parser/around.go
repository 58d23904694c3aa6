package parser

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

const (
	factLinks  = 0.2  // share of the words of facts that are links, at most
	factBlocks = 4    // blocks that make facts behind the text: two names and two values
	fewFacts   = 2    // the same of those with figures
	mostFacts  = 2048 // elements and blocks, so that a hostile page takes no quadratic time
)

// titleBlock is the heading that the page's title has, -1 if there is none.
func (p *pass) titleBlock() int {
	if p.out.Title == "" {
		return -1
	}
	for i := range p.blocks {
		if b := &p.blocks[i]; b.kind == heading && b.flags&(hidden|boilerplate) == 0 && p.entitles(b) {
			return i
		}
	}
	return -1
}

// keepFacts keeps what stands around the text of container c, under the same title, and is too short beside it to be
// its container's: a price, a line under the title, a table of dimensions, the date and the place of an event.
func (j *judge) keepFacts(c int32, drop, region flags) {
	switch {
	case j.title < 0 || c == 0:
		return
	case j.within(j.blocks[j.title].node, c):
		j.keepSections(c, drop, region)
		return
	case j.blocks[j.title].node > c:
		return
	}
	a := c
	for a > 0 && !j.within(j.blocks[j.title].node, a) {
		a = j.nodes[a].parent
	}
	if a == c {
		return
	}
	if around := region & j.blocks[j.title].flags; around != region { // the title of a live blog heads its articles
		region = around
		j.sum(drop, region)
	}
	from := j.title
	for i := max(a+1, j.blocks[j.title].node); i <= j.nodes[a].last; i++ {
		n := &j.nodes[i]
		switch {
		case i == c || n.control || n.tag == htmlscan.Form || n.cell() && j.within(c, n.parent) && !j.within(c, i):
			i = n.last
		case j.within(c, i), n.words == 0:
		default:
			for from < len(j.blocks) && j.blocks[from].node < i {
				from++
			}
			if j.keepFact(i, from, i > c, drop, region) {
				i = n.last
			}
		}
	}
	j.keepLead(a, c, drop, region)
}

// cell says whether the element is a cell: beside one that holds the text it is a column of the page.
func (n *node) cell() bool { return n.tag == htmlscan.Td || n.tag == htmlscan.Th }

// keepFact keeps the element n, whose blocks start at from, if it says facts. Behind the text it takes some of them.
func (j *judge) keepFact(n int32, from int, behind bool, drop, region flags) bool {
	e := &j.nodes[n]
	if e.shown != e.words || float64(e.linkWords) > factLinks*float64(e.words) || e.last-n > mostFacts || j.controls(n) {
		return false
	}
	to := from
	for to < len(j.blocks) && j.within(j.blocks[to].node, n) && to-from <= mostFacts {
		to++
	}
	if to == from || to-from > mostFacts {
		return false
	}
	headed := e.tag == htmlscan.Section && j.blocks[from].kind == heading && e.linkWords == 0
	if behind && !headed && (2*e.prose > e.words || !j.facts(from, to)) {
		return false
	}
	for i := from; i < to; i++ {
		b := &j.blocks[i]
		j.keep[i] = j.keep[i] || b.flags&drop == 0 && b.flags&region == region && !j.byline(b)
	}
	return true
}

// facts says whether the blocks are enough to be names and values.
func (j *judge) facts(from, to int) bool {
	text := j.buf[j.blocks[from].start:j.blocks[to-1].end]
	return to-from >= factBlocks || to-from >= fewFacts && bytes.ContainsAny(text, "0123456789")
}

// controls says whether there are fields or buttons in the element.
func (j *judge) controls(n int32) bool {
	for i := n; i <= j.nodes[n].last; i++ {
		if j.nodes[i].control {
			return true
		}
	}
	return false
}

// keepLead keeps the paragraphs between the title and the text of c that are in elements around both.
func (j *judge) keepLead(a, c int32, drop, region flags) {
	for i := j.title + 1; i < len(j.blocks) && j.blocks[i].node < c; i++ {
		b := &j.blocks[i]
		if b.node >= a && j.within(c, b.node) && b.linkWords == 0 && b.flags&drop == 0 && b.flags&region == region {
			j.keep[i] = !j.byline(b)
		}
	}
}

// bylineWords is how many words a line has at most that says who wrote the text, and when.
const bylineWords = 12

// byline says whether the block says who wrote the text, or when.
func (j *judge) byline(b *block) bool {
	text := j.buf[b.start:b.end]
	at := bytes.IndexAny(text, " \n")
	if at <= 0 || at > len("veröffentlicht") || b.words > bylineWords {
		return false
	}
	switch string(bytes.ToLower(bytes.TrimSuffix(text[:at], []byte(":")))) {
	case "by", "von", "par", "por", "di", "door", "av", "af", "от", "автор", "author", "written", "words", "posted",
		"published", "updated", "veröffentlicht", "aktualisiert", "publié", "publicado", "pubblicato":
		return true
	}
	return false
}
