package parser

import "strings"

// The classifier keeps the blocks that are the page's main text. It knows of a block what one pass could see: its
// words, how many of them are links, what it is, and where it stands. The thresholds of link density and the look at a
// block's neighbours follow Kohlschütter, Fankhauser and Nejdl, "Boilerplate Detection using Shallow Text Features"
// (WSDM 2010); regions, kinds of blocks and the runs of links are ours, tuned on the pages of testdata and on the
// documentation of Python, PostgreSQL, Boost, Rust and Node.
const (
	proseDensity    = 1.0 / 3 // at most so many of a block's words are links in prose (ibid., fig. 3)
	linksDensity    = 0.6     // a block with more is a list of links
	longBlock       = 10      // words that make a block prose by itself
	longLinks       = 30      // words that make it so in spite of links nearby
	linkRun         = 4       // so many lists of links in a row are navigation
	mostlyProse     = 0.75    // share of the text that is no such run, for the runs to be dropped
	enoughInMain    = 0.3     // share of the page's prose that makes the main element its main text
	enoughInContent = 0.5     // the same for an element that is only called content
	gap             = 3       // short blocks between prose that belong to it
	minMain         = 25      // words; with fewer, main text was not found
	minProse        = 100     // words; with fewer, and
	indexShare      = 0.4     // a smaller share of what is shown, the page is an index: its links are its text
	keptEnough      = 0.2     // share of the shown words that main text has at least, unless hints alone say otherwise
)

func (b *block) density() float64 {
	if b.words == 0 {
		return 0
	}
	return float64(b.linkWords) / float64(b.words)
}

func (b *block) prose() bool {
	return b.density() <= proseDensity && (b.words >= longBlock || b.kind == pre)
}

// mainBlocks marks the blocks of the main text. Where what the page says of itself leaves too little, it is believed
// less.
func mainBlocks(blocks []block) []bool {
	keep := make([]bool, len(blocks))
	shown := unlinked(blocks, hidden|boilerplate)
	for _, drop := range []flags{hidden | boilerplate | suspect, hidden | boilerplate} {
		selectMain(blocks, keep, drop)
		if n := kept(blocks, keep); n >= minMain && float64(n) >= keptEnough*float64(shown) {
			return keep
		}
	}
	for i := range blocks {
		keep[i] = blocks[i].flags&hidden == 0 // all visible text
	}
	return keep
}

// kept counts the words of the kept blocks.
func kept(blocks []block, keep []bool) (words int) {
	for i := range blocks {
		if keep[i] {
			words += int(blocks[i].words)
		}
	}
	return words
}

// wordsIn counts the words of a region's blocks that have none of the flags in drop.
func wordsIn(blocks []block, drop, region flags) (words int) {
	for i := range blocks {
		if b := &blocks[i]; b.flags&drop == 0 && b.flags&region == region {
			words += int(b.words)
		}
	}
	return words
}

// unlinked counts the words that no link has, in blocks without the flags.
func unlinked(blocks []block, without flags) (words int) {
	for i := range blocks {
		if b := &blocks[i]; b.flags&without == 0 {
			words += int(b.words - b.linkWords)
		}
	}
	return words
}

func selectMain(blocks []block, keep []bool, drop flags) {
	clear(keep)
	region := findRegion(blocks, drop)
	for i := range blocks {
		b := &blocks[i]
		keep[i] = b.flags&drop == 0 && b.flags&region == region
	}
	if region == 0 {
		byDensity(blocks, keep)
		return
	}
	dropLinkRuns(blocks, keep)
}

// findRegion chooses the region that holds the page's prose: main, else an element that is called content, and in it
// article. Zero: none.
func findRegion(blocks []block, drop flags) (region flags) {
	all := proseWords(blocks, drop, 0)
	shown := wordsIn(blocks, drop, 0)
	for _, f := range [...]flags{inMain, inContent} {
		enough := enoughInMain
		if f == inContent {
			enough = enoughInContent
		}
		n := proseWords(blocks, drop, f)
		if (n >= minMain && n >= enough*all) || wordsIn(blocks, drop, f) > shown/2 {
			region, all = f, n
			break
		}
	}
	if n := proseWords(blocks, drop, region|inArticle); n >= minMain && n > 0.5*all {
		region |= inArticle
	}
	return region
}

func proseWords(blocks []block, drop, region flags) (words float64) {
	for i := range blocks {
		if b := &blocks[i]; b.flags&drop == 0 && b.flags&region == region && b.density() <= proseDensity {
			words += float64(b.words)
		}
	}
	return words
}

// dropLinkRuns drops runs of links, as of related pages, from a region that is mostly prose. In an index the links are
// the text.
func dropLinkRuns(blocks []block, keep []bool) {
	inRuns := 0
	eachRun(blocks, keep, func(from, to int) {
		for i := from; i < to; i++ {
			inRuns += int(blocks[i].words)
		}
	})
	total := kept(blocks, keep)
	if float64(total-inRuns) < mostlyProse*float64(total) {
		return
	}
	eachRun(blocks, keep, func(from, to int) {
		clear(keep[from:to])
		for to < len(blocks) && !keep[to] {
			to++
		}
		if from > 0 && blocks[from-1].kind == heading && (to == len(blocks) || blocks[to].kind == heading) {
			keep[from-1] = false // it headed nothing else
		}
	})
}

// eachRun calls f for each run of kept blocks that are lists of links.
func eachRun(blocks []block, keep []bool, f func(from, to int)) {
	for i := 0; i < len(blocks); i++ {
		j := i
		for j < len(blocks) && keep[j] && blocks[j].density() > linksDensity {
			j++
		}
		if j-i >= linkRun {
			f(i, j)
		}
		if j > i {
			i = j
		}
	}
}

// byDensity keeps, of the blocks in keep, prose and what stands within it.
func byDensity(blocks []block, keep []bool) {
	index := make([]int, 0, len(blocks)) // of the blocks in question
	for i := range blocks {
		if keep[i] {
			index = append(index, i)
		}
	}
	candidates := kept(blocks, keep)
	clear(keep)
	at := func(k int) *block {
		if k < 0 || k >= len(index) {
			return &block{}
		}
		return &blocks[index[k]]
	}
	for k, i := range index {
		keep[i] = core(at(k-1), at(k), at(k+1))
	}
	fillGaps(blocks, keep, index)
	attachHeadings(blocks, keep, index)
	if n := kept(blocks, keep); n < minProse && float64(n) < indexShare*float64(candidates) {
		for _, i := range index {
			keep[i] = true
		}
	}
}

// core decides by a block and its neighbours whether it is prose by itself.
func core(prev, b, next *block) bool {
	switch {
	case !b.prose():
		return false
	case prev.density() > linksDensity && next.density() > linksDensity:
		return b.words >= longLinks
	}
	return true
}

// fillGaps keeps short blocks between prose, and list items and cells that go on from it.
func fillGaps(blocks []block, keep []bool, index []int) {
	last := -1 // last kept
	for k, i := range index {
		if !keep[i] {
			continue
		}
		if last >= 0 && k-last-1 <= gapAfter(blocks, index[last+1:k]) {
			for _, j := range index[last+1 : k] {
				keep[j] = true
			}
		}
		last = k
	}
	if last >= 0 {
		keepTail(blocks, keep, index[last+1:])
	}
}

// gapAfter is how many blocks a gap may have: any number without links, as lists and tables have, few with them.
func gapAfter(blocks []block, between []int) int {
	for _, i := range between {
		if blocks[i].density() > linksDensity {
			return gap
		}
	}
	return len(between)
}

// keepTail keeps the items and cells that follow the last prose.
func keepTail(blocks []block, keep []bool, rest []int) {
	for _, i := range rest {
		b := &blocks[i]
		if b.density() > proseDensity || (b.kind != item && b.kind != cell && b.kind != pre) {
			return
		}
		keep[i] = true
	}
}

// attachHeadings keeps the headings right before what is kept.
func attachHeadings(blocks []block, keep []bool, index []int) {
	follows := false
	for k := len(index) - 1; k >= 0; k-- {
		i := index[k]
		if blocks[i].kind == heading && follows && blocks[i].density() <= linksDensity {
			keep[i] = true
		}
		follows = keep[i]
	}
}

// mainText joins the blocks of the main text, a line each.
func (p *pass) mainText() string {
	if p.textFull {
		p.out.cut(CutText)
	}
	keep := mainBlocks(p.blocks)
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
	text := make([]byte, 0, size)
	for i := range p.blocks[:last+1] {
		if !keep[i] {
			continue
		}
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = append(text, p.buf[p.blocks[i].start:p.blocks[i].end]...)
	}
	return p.boundText(text)
}

// keepTitle keeps the heading before the text that says what the title says, if a table of contents parts it from the
// text.
func (p *pass) keepTitle(keep []bool) {
	for i := range p.blocks {
		b := &p.blocks[i]
		if keep[i] {
			return
		}
		if b.kind == heading && b.flags&(hidden|boilerplate|suspect) == 0 && strings.Contains(p.out.Title, string(p.buf[b.start:b.end])) {
			keep[i] = true
			return
		}
	}
}

func (p *pass) boundText(text []byte) string {
	if p.opt.MaxText > 0 && len(text) > p.opt.MaxText {
		p.out.cut(CutText)
		text = cutAt(text, p.opt.MaxText)
	}
	return string(text)
}
