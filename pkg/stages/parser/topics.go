package parser

import "bytes"

const (
	noticeWords = 60   // of a notice of copyright, at most
	topicWords  = 6    // a line with more announces nothing
	otherProse  = 25   // words of a paragraph without links that is no teaser: the text goes on
	boxShare    = 0.25 // an element with a smaller share of the prose belongs to its heading as a whole
)

// markTopics marks what is under headings that announce other pages, comments and the like.
func (j *judge) markTopics() {
	before := int32(0) // words of prose
	for i := range j.blocks {
		b := &j.blocks[i]
		if drop := b.flags & trusts[0].drop; drop == suspect && b.kind == heading &&
			topicOf(j.buf[b.start:b.end]) == others {
			j.markBox(i) // class="related-title": what it heads may have no name
		}
		if b.flags&trusts[0].drop != 0 {
			continue
		}
		if j.copyright(b) || j.signed(b) || j.turnsPage(b) {
			b.flags |= aside
			continue
		}
		if b.prose() {
			before += b.words
			continue
		}
		if b.words > topicWords || b.kind == cell {
			continue
		}
		switch t := topicOf(j.buf[b.start:b.end]); t {
		case noTopic:
		case sharing:
			j.markShort(i)
		case readers:
			if n := j.scope(i); before >= minMain && j.heads(i, n) {
				j.markTo(i, n, comments)
			}
		default:
			if before >= minMain || b.kind == heading {
				j.markBox(i)
			}
		}
	}
}

// copyright says whether the block is a notice of copyright.
func (j *judge) copyright(b *block) bool {
	text := j.buf[b.start:b.end]
	if b.words > noticeWords || len(text) < 3 {
		return false
	}
	const word = "copyright "
	if len(text) > len(word) && bytes.EqualFold(text[:len(word)], []byte(word)) {
		text = text[len(word):]
		return text[0] == '(' || text[0] >= '0' && text[0] <= '9' || bytes.HasPrefix(text, []byte("©"))
	}
	return bytes.HasPrefix(text, []byte("©"))
}

// signed says whether the block is the line in which a site names the program that it is made with, or what a board
// shows below each post of a member, set off by a rule of underscores.
func (j *judge) signed(b *block) bool {
	text := j.buf[b.start:b.end]
	const word, rule = "powered by ", "__________"
	if len(text) <= len(word) || b.words > noticeWords {
		return false
	}
	return text[0] == '_' && bytes.HasPrefix(text, []byte(rule)) || text[0]|0x20 == 'p' &&
		bytes.EqualFold(text[:len(word)], []byte(word)) && (b.linkWords > 0 || bytes.Contains(text, []byte("©")))
}

// turnsPage says whether the block is a link to the message before or behind this one, or to lists of all, as archives
// of mailing lists have it.
func (j *judge) turnsPage(b *block) bool {
	const word, sorted = " message", "messages sorted by:"
	text := j.buf[b.start:b.end]
	if b.kind == item && len(text) >= len(sorted) && bytes.EqualFold(text[:len(sorted)], []byte(sorted)) {
		return true
	}
	at := bytes.IndexByte(text, ' ')
	return b.kind == item && b.linkWords > 0 && at > 0 && at <= len("previous") && len(text) > at+len(word) &&
		bytes.EqualFold(text[at:at+len(word)], []byte(word)) &&
		(bytes.EqualFold(text[:at], []byte("previous")) || bytes.EqualFold(text[:at], []byte("next")))
}

// scope is the element that the heading at i heads: the one around it that holds more than the heading.
func (j *judge) scope(i int) int32 {
	n := j.blocks[i].node
	for n > 0 && (i+1 == len(j.blocks) || !j.within(j.blocks[i+1].node, n)) {
		n = j.nodes[n].parent
	}
	return n
}

// heads says whether the line at i is at the head of the element n, and not one of its sections.
func (j *judge) heads(i int, n int32) bool {
	for k := i - 1; k >= 0 && j.within(j.blocks[k].node, n); k-- {
		if j.blocks[k].prose() || i-k > maxLook {
			return false
		}
	}
	return true
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
