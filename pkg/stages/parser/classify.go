package parser

import (
	"bytes"
	"strings"
)

// The classifier keeps the blocks that are the page's main text. It knows of a block what one pass could see: its
// words, how many of them are links, what it is, and where it is in the outline. The thresholds of link density
// follow Kohlschütter, Fankhauser and Nejdl, "Boilerplate Detection using Shallow Text Features" (WSDM 2010); that the
// element around most of the prose is the place to look in is an idea of Readability's. Regions, kinds of blocks, runs
// of links and lists of teasers are ours, tuned on the training families of pkg/testkit/textpages, on the pages of
// testdata and on the documentation of Python, PostgreSQL, Boost, Rust and Node.
const (
	proseDensity    = 1.0 / 3 // at most so many of a block's words are links in prose (ibid., fig. 3)
	linksDensity    = 0.6     // a block with more is a list of links
	longBlock       = 10      // words that make a block prose by itself
	linkRun         = 3       // so many lists of links in a row are navigation
	enoughInMain    = 0.3     // share of the page's prose that makes the main element its main text
	enoughInContent = 0.9     // the same for an element that is only called content, and for an article in either
	minMain         = 25      // words; with fewer, main text was not found
	minComment      = 10      // words of prose that somebody may comment on
	introWords      = 60      // words of an introduction to an index, at most
	indexTimes      = 4       // so many times as many words have the teasers of an index
	keptEnough      = 0.2     // share of the shown words that main text has at least
)

func (b *block) density() float64 {
	if b.words == 0 {
		return 0
	}
	return float64(b.linkWords) / float64(b.words)
}

// prose, that is words, at most a third of them links: in integers, as it is asked of each block several times.
func (b *block) prose() bool {
	return 3*b.linkWords <= b.words && (b.words >= longBlock || b.kind == pre)
}

// trust is how far the page's hints at what is not its text are believed.
type trust struct {
	drop  flags
	links bool // lists of links are text
}

// trusts are tried in turn until enough text is left: all elements may be called widgets, a thread of a forum comments,
// an index consists of teasers and links.
var trusts = [...]trust{
	{hidden | boilerplate | suspect | notice | comments | teaser | aside, false},
	{hidden | boilerplate | certain | notice | comments | teaser | aside, false},
	{hidden | boilerplate | suspect | notice | teaser | aside, false},
	{hidden | boilerplate | certain | notice | comments | aside, true},
	{everything, true},
}

// everything is all but what is no text of any page.
const everything = hidden | boilerplate | notice

// mainBlocks marks the blocks of the main text.
func mainBlocks(p *pass) []bool {
	j := &judge{buf: p.buf, blocks: p.blocks, nodes: p.nodes, keep: make([]bool, len(p.blocks))}
	j.article = p.article
	j.manual, j.thread, j.title = p.manual && !p.thread, p.thread, p.titleBlock()
	j.span()
	if !j.manual && !j.thread {
		j.markTeasers()
	}
	j.settle()
	if !j.manual {
		j.markTopics() // a manual may write about comments and related topics
	}
	shown := j.unlinked(everything | comments | teaser | aside)
	for _, t := range trusts {
		if t.drop == everything && j.keepLittle(mostOfLittle) {
			return j.keep
		}
		j.selectMain(t)
		if t.drop&teaser != 0 && !p.article && j.isIndex() {
			continue
		}
		if n := j.kept(); n >= minMain && float64(n) >= keptEnough*float64(shown) && (t.drop&comments == 0 || j.commented()) {
			return j.keep
		}
	}
	if !j.keepLittle(0) && !j.keepTitleInMain() {
		for i := range j.blocks {
			j.keep[i] = j.blocks[i].flags&hidden == 0 // all visible text
		}
	}
	return j.keep
}

// isIndex says whether what is kept is but the introduction to the page's teasers.
func (j *judge) isIndex() bool {
	n := j.kept()
	if n >= introWords {
		return false
	}
	teasers := 0
	for i := range j.blocks {
		b := &j.blocks[i]
		if j.keep[i] && b.flags&inArticle != 0 && b.prose() {
			return false
		}
		if b.flags&teaser != 0 && b.flags&(hidden|boilerplate|suspect|comments|aside) == 0 {
			teasers += int(b.words)
		}
	}
	return teasers > indexTimes*n
}

// commented says whether there is prose before the comments for them to be about. A thread has none.
func (j *judge) commented() bool {
	prose := int32(0)
	for i := range j.blocks {
		b := &j.blocks[i]
		if b.flags&comments != 0 && b.prose() && b.flags&(hidden|boilerplate) == 0 {
			return prose >= minComment
		}
		if j.keep[i] && b.prose() {
			prose += b.words
		}
	}
	return true
}

// kept counts the words of the kept blocks.
func (j *judge) kept() (words int) {
	for i := range j.blocks {
		if j.keep[i] {
			words += int(j.blocks[i].words)
		}
	}
	return words
}

// unlinked counts the words that no link has, in blocks without the flags.
func (j *judge) unlinked(without flags) (words int) {
	for i := range j.blocks {
		if b := &j.blocks[i]; b.flags&without == 0 {
			words += int(b.words - b.linkWords)
		}
	}
	return words
}

func (j *judge) selectMain(t trust) {
	region := j.findRegion(t.drop)
	j.sum(t.drop, region)
	c := int32(0)
	if (!j.manual || region == 0) && !j.thread && t.drop != everything {
		c = j.container()
	}
	for i := range j.blocks {
		b := &j.blocks[i]
		j.keep[i] = b.flags&t.drop == 0 && b.flags&region == region && j.within(b.node, c)
	}
	if j.narrow > 0 && c == j.nodes[j.narrow].parent {
		j.dropBesideFacts(c)
	}
	if !t.links && !j.manual {
		j.keepFacts(c, t.drop, region)
	}
	if !t.links {
		j.dropLinks(c)
	}
}

// findRegion chooses the region that holds the page's prose: main, else an element that is called content, and in it
// article. Zero: none.
func (j *judge) findRegion(drop flags) (region flags) {
	t := j.tally(drop)
	all, shown := t.of(0)
	for _, f := range [...]flags{inMain, inContent} {
		enough, most := enoughInMain, shown/2
		if f == inContent {
			enough, most = enoughInContent, enoughInContent*shown
		}
		n, words := t.of(f)
		if (n >= minMain && n >= enough*all) || words > most {
			region, all = f, n
			break
		}
	}
	if n, _ := t.of(region | inArticle); n >= minMain && n >= enoughInContent*all {
		region |= inArticle
	}
	return region
}

// regionFlags are those of regions, next to each other.
const regionFlags = inMain | inArticle | inContent

// tally counts the words that few links have, and all, by the flags of regions.
type tally struct {
	prose, words [regionFlags/inMain + 1]float64
}

func (j *judge) tally(drop flags) (t tally) {
	for i := range j.blocks {
		b := &j.blocks[i]
		if b.flags&drop != 0 {
			continue
		}
		at := b.flags & regionFlags / inMain
		t.words[at] += float64(b.words)
		if 3*b.linkWords <= b.words {
			t.prose[at] += float64(b.words)
		}
	}
	return t
}

func (t *tally) of(region flags) (prose, words float64) {
	region /= inMain
	for at := range t.words {
		if flags(at)&region == region {
			prose, words = prose+t.prose[at], words+t.words[at]
		}
	}
	return prose, words
}

// mainText joins the blocks of the main text, a line each.
func (p *pass) mainText() string {
	if p.textFull {
		p.out.cut(CutText)
	}
	keep := mainBlocks(p)
	p.keepTitle(keep)
	size, last := 0, -1
	for i := range p.blocks {
		if keep[i] {
			size += int(p.blocks[i].end-p.blocks[i].start) + 1
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	var text strings.Builder
	text.Grow(size)
	for i := range p.blocks[:last+1] {
		if !keep[i] {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Write(p.buf[p.blocks[i].start:p.blocks[i].end])
	}
	return p.boundText(text.String())
}

// keepTitle keeps the heading before the text that says what the title says, if a table of contents parts it from the
// text.
func (p *pass) keepTitle(keep []bool) {
	for i := range p.blocks {
		b := &p.blocks[i]
		if p.names(i) && !keep[i] {
			keep[i], keep[i+1] = true, true
			return
		}
		if keep[i] && (b.kind == heading || b.prose()) {
			return
		}
		if b.flags&(hidden|boilerplate|suspect|teaser) == 0 && p.entitles(b) {
			keep[i] = true
			p.keepIntro(keep, i)
			return
		}
	}
}

// entitles says whether the block is a heading that the title has, or a paragraph that it begins with: so forums show
// the title of a thread.
func (p *pass) entitles(b *block) bool {
	text := p.buf[b.start:b.end]
	if len(text) > len(p.out.Title) {
		return false
	}
	return b.kind == heading && strings.Contains(p.out.Title, string(text)) ||
		b.kind == para && b.words >= titleWords && strings.HasPrefix(p.out.Title, string(text))
}

// names says whether the block is the heading of the first section of a manual page, which is what it is about and a
// line on that: "NAME", "ls - list files". AsciiDoc puts it into the header of the page.
func (p *pass) names(i int) bool {
	b := &p.blocks[i]
	if b.kind != heading || !equalFold(p.buf[b.start:b.end], "name") || i+1 == len(p.blocks) {
		return false
	}
	line := &p.blocks[i+1]
	text := p.buf[line.start:line.end]
	return line.kind == para && (b.flags|line.flags)&(hidden|boilerplate|suspect|teaser) == 0 &&
		(bytes.Contains(text, []byte(" - ")) || bytes.Contains(text, []byte(" — ")) ||
			bytes.Contains(text, []byte(" – ")))
}

// keepIntro keeps the paragraph or the lesser heading right behind the title at i, which tells what the text is about.
func (p *pass) keepIntro(keep []bool, i int) {
	if i+1 == len(p.blocks) {
		return
	}
	b := &p.blocks[i+1]
	if b.node == p.blocks[i].node && b.flags&trusts[0].drop == 0 &&
		(b.kind == para && b.prose() || b.kind == heading && b.linkWords == 0 && b.words >= titleWords) {
		keep[i+1] = true
	}
}

func (p *pass) boundText(text string) string {
	if p.opt.MaxText > 0 && len(text) > p.opt.MaxText {
		p.out.cut(CutText)
		text = strings.Clone(cutAt(text, p.opt.MaxText)) // the rest need not be held
	}
	return text
}
