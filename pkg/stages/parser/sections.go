package parser

import "github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"

const (
	sectionLinks = 0.3 // share of the words of a section that are links, at most
	headedWithin = 2   // blocks of a section of which one is a heading

	// Words of prose before sections, at most: what is longer is a text by itself, and what follows it are others. The
	// second bound is for pages that say that they are an article, as some programs have all pages say.
	introProse   = 250
	articleProse = 100
)

// keepSections keeps what follows the container c as c's equals do, if c begins the page with its title: what a firm
// offers, its hours, who works there. Such sections have a heading and little prose, few links and no fields.
func (j *judge) keepSections(c int32, drop, region flags) {
	if most := j.nodes[c].prose; most > introProse || j.article && most > articleProse {
		return
	}
	from, seen := 0, 0
	for s := c; s > 0; s = j.nodes[s].parent {
		end := j.nodes[j.nodes[s].parent].last
		for i := j.nodes[s].last + 1; i <= end && seen < mostFacts; i = j.nodes[i].last + 1 {
			seen++
			if !j.equal(s, i, region) || j.nodes[i].words == 0 {
				continue
			}
			for from < len(j.blocks) && j.blocks[from].node < i {
				from++
			}
			j.keepSection(i, from, drop, region)
		}
	}
}

// equal says whether element i is a part of the page as s is, by their tags and names.
func (j *judge) equal(s, i int32, region flags) bool {
	a, b := &j.nodes[s], &j.nodes[i]
	if a.tag != b.tag || a.listed() || a.cell() || a.tag == htmlscan.Article {
		return false
	}
	return a.tag == htmlscan.Section || a.name == b.name && (a.name != 0 || region&inMain != 0)
}

// keepSection keeps the element n, whose blocks start at from, if it is a section of the text.
func (j *judge) keepSection(n int32, from int, drop, region flags) {
	e := &j.nodes[n]
	if 2*e.words < e.shown || float64(e.linkWords) > sectionLinks*float64(e.words) || j.controls(n) {
		return
	}
	headed := false
	for k := from; k < min(from+headedWithin, len(j.blocks)); k++ {
		headed = headed || j.blocks[k].kind == heading && j.within(j.blocks[k].node, n)
	}
	for i := from; headed && i < len(j.blocks) && j.within(j.blocks[i].node, n); i++ {
		b := &j.blocks[i]
		j.keep[i] = j.keep[i] || b.flags&drop == 0 && b.flags&region == region
	}
}
