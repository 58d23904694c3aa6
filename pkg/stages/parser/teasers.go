package parser

// A teaser is a link to another page by its title, with a few words about it or none. A list of them is a run of
// titles with little text between, whatever the markup.
const (
	titleWords  = 4  // words of a link that make it a title
	teaserWords = 60 // words that no link has, between one title and the next
	teaserParts = 5  // blocks of a teaser
	teaserRun   = 3  // so many make a list
)

// title says whether the block is a link by its title.
func (b *block) title() bool { return b.linkWords >= titleWords && b.density() > linksDensity }

// markTeasers marks the lists of teasers.
func (j *judge) markTeasers() {
	first, title, last, count, parts := -1, -1, -1, 0, 0
	words, since := 0, 0
	end := func() {
		if count >= teaserRun {
			j.markRun(first, last, parts)
		}
		first, last, count, parts = -1, -1, 0, 0
	}
	for i := range j.blocks {
		b := &j.blocks[i]
		if b.flags&(hidden|boilerplate) != 0 || j.nodes[b.node].own&suspect != 0 {
			continue // no titles are in a row of links to share a page
		}
		if b.kind == pre {
			end() // a message between the links to the next ones is no teaser
			continue
		}
		if !b.title() {
			words, since = words+int(b.words-b.linkWords), since+1
			if words > teaserWords || since > teaserParts {
				end()
			}
			continue
		}
		if first >= 0 && !j.alike(&j.blocks[title], b) {
			if since == 0 && b.node == j.blocks[last].node {
				last = i // all of the teaser is a link
				continue
			}
			end()
		}
		title = i
		if first < 0 {
			first, count = i, 0
		} else {
			parts = max(parts, since)
		}
		last, count = i, count+1
		words, since = 0, 0
	}
	end()
}

// alike says whether two titles are in the same kind of place.
func (j *judge) alike(a, b *block) bool {
	return a.kind == b.kind && j.nodes[a.node].name == j.nodes[b.node].name
}

// markRun marks the teasers from the first title to the last, what follows the last as others were followed, and the
// heading before.
func (j *judge) markRun(first, last, parts int) {
	for i := first; i <= last; i++ {
		j.blocks[i].flags |= teaser
	}
	for i := last + 1; i < len(j.blocks) && i <= last+parts; i++ {
		b := &j.blocks[i]
		if b.words > teaserWords || b.kind == heading && b.density() <= linksDensity {
			break
		}
		if !j.within(b.node, j.nodes[j.blocks[last].node].parent) {
			break
		}
		b.flags |= teaser
	}
	for i := first - 1; i >= max(0, first-2); i-- {
		b := &j.blocks[i]
		if b.words >= longBlock {
			break
		}
		if b.kind == heading || b.words <= titleWords && b.kind == para && b.flags&(hidden|boilerplate) == 0 {
			b.flags |= teaser
			break
		}
	}
}
