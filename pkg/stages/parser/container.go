package parser

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

const (
	besides       = 0.1  // share of the text of an element that may be beside the main text
	besidesManual = 0.02 // the same in a manual
	linkColumn    = 0.3  // share of an element's words that are links if it is a column beside the text
	linkBox       = 0.5  // share that makes an element a box of links
	boxWords      = 8    // words of such a box at least
	factsShare    = 0.25 // share of the prose beside it from which an element of short lines would be missed
	remnantShare  = 0.4  // share of what an element shows that counts as nothing
	formWords     = 60   // words of an element that is there for its fields and buttons, at most
	formRow       = 3    // so many of them side by side are something else: posts with a button each
)

// container finds the element around the text: from the document down, as long as one element inside holds nearly all
// of what is not in columns of links and in small boxes.
func (j *judge) container() (c int32) {
	j.narrow = 0
	for {
		next := j.heir(c)
		if next == 0 {
			return c
		}
		c = next
	}
}

// heir is the element in c that holds nearly all of its text, zero if none does.
func (j *judge) heir(c int32) (best int32) {
	children, others := int32(0), int32(0) // words that no link has
	for i := c + 1; i <= j.nodes[c].last; i = j.nodes[i].last + 1 {
		n := &j.nodes[i]
		children += n.unlinked()
		if best == 0 || n.prose > j.nodes[best].prose {
			best = i
		}
	}
	if best == 0 || j.nodes[best].prose < minMain || j.nodes[best].listed() {
		return 0
	}
	for i := c + 1; i <= j.nodes[c].last; i = j.nodes[i].last + 1 {
		if i != best {
			others += j.beside(i, best)
		}
	}
	others += j.nodes[c].unlinked() - children // right in c
	share := besides
	if j.manual {
		share = besidesManual
	}
	if float64(others) > share*float64(j.nodes[best].prose) {
		return 0
	}
	if j.besideFacts(c, best) {
		j.narrow = best
		return 0
	}
	return best
}

// besideFacts says whether an element beside best, in c, has facts that would be missed.
func (j *judge) besideFacts(c, best int32) bool {
	if j.manual {
		return false
	}
	for i := c + 1; i <= j.nodes[c].last; i = j.nodes[i].last + 1 {
		if i != best && j.nodes[i].facts(&j.nodes[best]) {
			return true
		}
	}
	return false
}

// dropBesideFacts drops what is in c neither in the element that has the prose nor facts: teasers, boxes.
func (j *judge) dropBesideFacts(c int32) {
	k := 0
	for i := c + 1; i <= j.nodes[c].last && j.narrow > 0; i = j.nodes[i].last + 1 {
		drop := i != j.narrow && !j.nodes[i].facts(&j.nodes[j.narrow])
		for ; k < len(j.blocks) && j.blocks[k].node <= j.nodes[i].last; k++ {
			if drop && j.within(j.blocks[k].node, i) {
				j.keep[k] = false
			}
		}
	}
}

// beside counts the words of element i that would be missed, were best the container. Columns of links and small boxes
// that are unlike it are not.
func (j *judge) beside(i, best int32) int32 {
	n, b := &j.nodes[i], &j.nodes[best]
	switch {
	case j.manual:
		return n.unlinked()
	case float64(n.linkWords) >= linkColumn*float64(n.words) || n.remnant():
		return 0
	case n.listed() || n.tag == htmlscan.Table:
		return n.unlinked()
	case n.tag == b.tag && n.name == b.name || float64(n.prose) > besides*float64(b.prose):
		return n.prose
	}
	return 0
}

// facts says whether the element is a part of the page that has short lines only: opening hours, what a thing measures,
// who is who. Teasers and menus have links, boxes that want something are small.
func (n *node) facts(prose *node) bool {
	return n.linkWords == 0 && n.words >= minMain && n.words == n.shown && !n.control &&
		float64(n.words) > factsShare*float64(prose.prose)
}

// remnant says whether most of what the element shows is known to be no text of the page, so that the rest is none
// either: a column of teasers and a notice.
func (n *node) remnant() bool {
	return n.shown >= boxWords && float64(n.unlinked()) < remnantShare*float64(n.shown)
}

func (n *node) unlinked() int32 { return n.words - n.linkWords }

// listed says whether the element is part of a text, however much of it that is.
func (n *node) listed() bool {
	switch n.tag {
	case htmlscan.Ul, htmlscan.Ol, htmlscan.Dl, htmlscan.Figure, htmlscan.Details:
		return true
	}
	return false
}

// dropLinks drops from the kept blocks those that are links: boxes and runs of links, and lines of them. In a manual
// links are text.
func (j *judge) dropLinks(c int32) {
	switch {
	case j.manual:
		return
	case j.thread:
		j.dropLines()
		return
	}
	j.dropBoxes(c)
	j.dropRuns()
	j.dropLines()
}

// dropBoxes drops the elements of which most are links or no text of the page, and the forms. Of lists the runs of
// links are dropped later. One that holds the page's title holds facts, too: a price between links to reviews.
func (j *judge) dropBoxes(c int32) {
	from, half := 0, j.nodes[c].prose/2
	for i := c + 1; i <= j.nodes[c].last; i++ {
		n := &j.nodes[i]
		entitled := j.title >= 0 && j.within(j.blocks[j.title].node, i)
		box := !entitled && n.words >= boxWords && !n.listed() && float64(n.linkWords) > linkBox*float64(n.words)
		if !box && (n.prose > half || n.listed() || entitled || !n.remnant()) && !j.form(i) || j.headedTable(i) {
			continue
		}
		for from < len(j.blocks) && j.blocks[from].node < i {
			from++
		}
		for k := from; k < len(j.blocks) && j.within(j.blocks[k].node, i); k++ {
			j.keep[k] = false
		}
		i = n.last
	}
}

// form says whether the element is small and there for its fields and buttons, as a box to subscribe in.
func (j *judge) form(i int32) bool {
	n := &j.nodes[i]
	if !n.control || n.shown > formWords {
		return false
	}
	row, seen := 0, 0
	for k := n.parent + 1; k <= j.nodes[n.parent].last && row < formRow && seen < maxLook; k, seen = j.nodes[k].last+1,
		seen+1 {
		if m := &j.nodes[k]; m.control && m.tag == n.tag && m.name == n.name {
			row++
		}
	}
	return row < formRow
}

// maxLook bounds how far around an element or a line is looked, so that a hostile page takes no quadratic time.
const maxLook = 64

// dropRuns drops runs of links, as of related pages, and a heading that heads nothing else. A few short links under a
// heading of the text are part of it: "See also".
func (j *judge) dropRuns() {
	for i := 0; i < len(j.blocks); i++ {
		to, n, words := i, 0, int32(0)
		for to < len(j.blocks) && (!j.keep[to] || j.blocks[to].density() > linksDensity) {
			if j.keep[to] {
				n, words = n+1, words+j.blocks[to].words
			}
			to++
		}
		headed := i > 0 && j.blocks[i-1].kind == heading && j.keep[i-1]
		if n == linkRun-1 && words >= titleWords*int32(n) && !headed && j.listsPages(i, to) {
			clear(j.keep[i:to])
		}
		if n >= linkRun && (n > fewLinks || words >= titleWords*int32(n) || !headed || j.heads(i-1, j.scope(i-1))) {
			clear(j.keep[i:to])
			if headed && (to == len(j.blocks) || j.blocks[to].kind == heading) {
				j.keep[i-1] = false
			}
		}
		i = max(i, to-1)
	}
}

// listsPages says whether the links between two blocks are items that nothing introduces: "Previous message: …".
func (j *judge) listsPages(from, to int) bool {
	for k := from; k < to; k++ {
		if j.keep[k] && j.blocks[k].kind != item {
			return false
		}
	}
	return from > 0 && j.keep[from-1] && j.buf[j.blocks[from-1].end-1] != ':'
}

// fewLinks is how many links under a heading may be part of the text.
const fewLinks = 12

// dropLines drops single lines of links between paragraphs: "Read also: …", "Home | News | Sport". A heading may be a
// link.
func (j *judge) dropLines() {
	for i := range j.blocks {
		b := &j.blocks[i]
		if j.keep[i] && b.kind != heading && b.linkWords > 0 &&
			(b.kind == para && b.density() > linksDensity && !j.thread || j.menuLine(b)) && (!j.thread || j.barred(b)) {
			j.keep[i] = false
		}
	}
}

// barred says whether bars part what the block says.
func (j *judge) barred(b *block) bool { return bytes.Count(j.buf[b.start:b.end], []byte("|")) > 1 }

const (
	menuDensity = 0.3 // share of links in a line that may be a menu whose separators are words
	menuWords   = 4   // linked words of such a line at least
)

// menuLine says whether all words of the block are links, but for signs between them.
func (j *judge) menuLine(b *block) bool {
	if b.linkWords < menuWords || b.density() < menuDensity {
		return false
	}
	signs := int32(0)
	for _, w := range bytes.Fields(j.buf[b.start:b.end]) {
		if r, n := utf8.DecodeRune(w); n == len(w) && !unicode.IsLetter(r) {
			signs++
		}
	}
	return signs > 0 && float64(b.linkWords) > menuAll*float64(b.words-signs)
}

// menuAll is the share of the words of a menu that are links.
const menuAll = 0.8
