package parser

import "github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"

const (
	besides    = 0.1 // share of the prose of an element that may stand beside the text
	linkColumn = 0.3 // share of an element's words that are links if it is a column beside the text
	linkBox    = 0.5 // share that makes an element a box of links
	boxWords   = 8   // words of such a box at least
)

// container finds the element around the text: from the document down, as long as one element inside holds nearly all
// of the prose that does not stand in columns of links.
func (j *judge) container() (c int32) {
	for {
		next := j.heir(c)
		if next == 0 {
			return c
		}
		c = next
	}
}

// heir is the element in c that holds nearly all of its prose, zero if none does.
func (j *judge) heir(c int32) (best int32) {
	children, others := int32(0), int32(0)
	for i := c + 1; i <= j.nodes[c].last; i = j.nodes[i].last + 1 {
		n := &j.nodes[i]
		children += n.prose
		if best == 0 || n.prose > j.nodes[best].prose {
			best = i
		}
	}
	if best == 0 || j.nodes[best].prose < minMain {
		return 0
	}
	for i := c + 1; i <= j.nodes[c].last; i = j.nodes[i].last + 1 {
		if n := &j.nodes[i]; i != best && float64(n.linkWords) < linkColumn*float64(n.words) {
			others += n.prose
		}
	}
	others += j.nodes[c].prose - children // right in c
	if float64(others) > besides*float64(j.nodes[best].prose) || j.part(best) {
		return 0
	}
	return best
}

// part says whether the element is part of a text, however much of it that is: a list, a table's cell is not.
func (j *judge) part(n int32) bool {
	switch j.nodes[n].tag {
	case htmlscan.Ul, htmlscan.Ol, htmlscan.Dl, htmlscan.Figure, htmlscan.Details:
		return true
	}
	return false
}

// dropLinks drops from the kept blocks those that are links: boxes and runs of links, and lines of them. In a manual
// links are text, but for the boxes.
func (j *judge) dropLinks(c int32) {
	if !j.manual {
		j.dropBoxes(c)
		j.dropRuns()
	}
	j.dropLines()
}

// dropBoxes drops the elements of which most are links.
func (j *judge) dropBoxes(c int32) {
	from := 0
	for i := c + 1; i <= j.nodes[c].last; i++ {
		n := &j.nodes[i]
		if n.words < boxWords || float64(n.linkWords) <= linkBox*float64(n.words) {
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

// dropRuns drops runs of links, as of related pages, and a heading that heads nothing else.
func (j *judge) dropRuns() {
	for i := 0; i < len(j.blocks); i++ {
		to := i
		for to < len(j.blocks) && (!j.keep[to] || j.blocks[to].density() > linksDensity) {
			to++
		}
		n := 0
		for k := i; k < to; k++ {
			if j.keep[k] {
				n++
			}
		}
		if n >= linkRun {
			clear(j.keep[i:to])
			if i > 0 && j.blocks[i-1].kind == heading && (to == len(j.blocks) || j.blocks[to].kind == heading) {
				j.keep[i-1] = false
			}
		}
		i = max(i, to-1)
	}
}

// dropLines drops single lines of links between paragraphs: "Read also: …". A heading may be a link.
func (j *judge) dropLines() {
	for i := range j.blocks {
		b := &j.blocks[i]
		if j.keep[i] && b.kind == para && b.density() > linksDensity && (!j.manual || b.words >= longBlock) {
			j.keep[i] = false
		}
	}
}
