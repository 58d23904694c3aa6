package parser

const (
	topicWords = 6    // a line with more announces nothing
	otherProse = 25   // words of a paragraph without links that is no teaser: the text goes on
	boxShare   = 0.25 // an element with a smaller share of the prose belongs to its heading as a whole
)

// markTopics marks what stands under headings that announce other pages, comments and the like. A manual may write
// about comments and related topics.
func (j *judge) markTopics() {
	if j.manual {
		return
	}
	before := int32(0) // words of prose
	for i := range j.blocks {
		b := &j.blocks[i]
		if b.flags&trusts[0].drop != 0 {
			continue
		}
		if b.prose() {
			before += b.words
			continue
		}
		if b.words > topicWords {
			continue
		}
		switch t := topicOf(j.buf[b.start:b.end]); t {
		case noTopic:
		case sharing:
			j.markShort(i)
		case readers:
			if before >= minMain {
				j.markTo(i, j.scope(i), comments)
			}
		default:
			if before >= minMain || b.kind == heading {
				j.markBox(i)
			}
		}
	}
}

// scope is the element that the heading at i heads: the one around it that holds more than the heading.
func (j *judge) scope(i int) int32 {
	n := j.blocks[i].node
	for n > 0 && (i+1 == len(j.blocks) || !j.within(j.blocks[i+1].node, n)) {
		n = j.nodes[n].parent
	}
	return n
}

// markTo marks the blocks from i to the end of the element n.
func (j *judge) markTo(i int, n int32, f flags) {
	for ; i < len(j.blocks) && j.within(j.blocks[i].node, n); i++ {
		j.blocks[i].flags |= f
	}
}

// markBox marks a heading and what it heads, as far as that is short texts and links.
func (j *judge) markBox(i int) {
	n := j.scope(i)
	if float64(j.nodes[n].prose) < boxShare*float64(j.nodes[0].prose) {
		j.markTo(i, n, aside)
		return
	}
	for k := i; k < len(j.blocks) && j.within(j.blocks[k].node, n); k++ {
		b := &j.blocks[k]
		if k > i && (b.kind == heading && b.density() <= linksDensity || b.words-b.linkWords >= otherProse) {
			return
		}
		b.flags |= aside
	}
}

// markShort marks a line and the lines of links that follow in the same element.
func (j *judge) markShort(i int) {
	n := j.blocks[i].node
	j.blocks[i].flags |= aside
	for i++; i < len(j.blocks) && j.within(j.blocks[i].node, n) && j.blocks[i].density() > linksDensity; i++ {
		j.blocks[i].flags |= aside
	}
}
