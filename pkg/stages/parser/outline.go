package parser

import "github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"

// node is an element of the outline: the tree of the elements that hold blocks of text, in the document's order. The
// first is the document.
type node struct {
	parent    int32
	last      int32 // the last node inside, itself if it has none
	words     int32 // of the text inside that counts
	linkWords int32
	prose     int32
	shown     int32  // words inside, those that do not count, too
	own       flags  // what the element says of itself
	all       flags  // suspect, comments, teaser: its own, if they hold, and its ancestors'
	name      uint16 // tells elements of different classes apart
	tag       htmlscan.Tag
	code      int32 // words of pre elements inside
	served    bool  // within a menu of a kitchen
	control   bool  // has a field or a button right inside
	holdsMain bool  // the main element, or one that is called content and has much of the prose, is inside
}

// maxNodes bounds the outline: what is deeper or later belongs to the elements around it.
const maxNodes = 1 << 16

// addNode adds an element to the outline and returns its number.
func (p *pass) addNode(t htmlscan.Tag, own flags) int32 {
	if len(p.nodes) >= maxNodes || own&ownFlags == 0 && !traits[t].block {
		return p.node
	}
	p.nodes = append(p.nodes, node{parent: p.topNode(), own: own, tag: t, name: p.className})
	return int32(len(p.nodes) - 1)
}

// judge decides which blocks of a page are its main text.
type judge struct {
	buf     []byte
	blocks  []block
	nodes   []node
	keep    []bool
	manual  bool  // a page of documentation: its lists of links are text
	article bool  // says of itself that it is one
	thread  bool  // a page of what people say to each other: comments and links are its text
	title   int   // the block of the title, -1 if there is none
	narrow  int32 // the element in the container that has the prose, if the container is wider because of facts
}

// span sets where each node ends.
func (j *judge) span() {
	for i := len(j.nodes) - 1; i >= 0; i-- {
		n := &j.nodes[i]
		n.last = max(n.last, int32(i))
		if i > 0 {
			up := &j.nodes[n.parent]
			up.last = max(up.last, n.last)
		}
	}
}

// within says whether node n is c or inside it.
func (j *judge) within(n, c int32) bool { return n >= c && n <= j.nodes[c].last }

// sum counts the words of the blocks that have none of the flags, and all of the region, for each node.
func (j *judge) sum(drop, region flags) {
	for i := range j.nodes {
		n := &j.nodes[i]
		n.words, n.linkWords, n.prose, n.shown = 0, 0, 0, 0
	}
	for i := range j.blocks {
		b := &j.blocks[i]
		n := &j.nodes[b.node]
		if b.flags&hidden == 0 {
			n.shown += b.words
		}
		if b.flags&drop != 0 || b.flags&region != region {
			continue
		}
		n.words, n.linkWords = n.words+b.words, n.linkWords+b.linkWords
		if b.prose() {
			n.prose += b.words
		}
	}
	for i := len(j.nodes) - 1; i > 0; i-- {
		n := &j.nodes[i]
		up := &j.nodes[n.parent]
		up.words, up.linkWords, up.prose = up.words+n.words, up.linkWords+n.linkWords, up.prose+n.prose
		up.shown += n.shown
	}
}

// wrapperShare is the share of the page's prose that makes a suspect element its frame: "box article modal".
const wrapperShare = 0.5

// settle decides which elements with suspect names are really boilerplate, and marks their blocks. An element around
// most of the page's prose is its frame, whatever its name.
func (j *judge) settle() {
	for i := 1; i < len(j.nodes); i++ {
		n := &j.nodes[i]
		n.all = n.own&j.kinds() | j.nodes[n.parent].all
	}
	for i := range j.blocks {
		j.blocks[i].flags |= j.nodes[j.blocks[i].node].all
	}
	j.sum(hidden|boilerplate|comments|teaser, 0)
	frames := j.frames(max(minMain, int32(wrapperShare*float64(j.nodes[0].prose))))
	j.markHolders()
	j.markCode()
	for i := 1; i < len(j.nodes); i++ {
		n := &j.nodes[i]
		n.all |= j.nodes[n.parent].all
		if n.own&notice != 0 && n.words <= noticeLimit(n.tag) {
			n.all |= notice
		}
		n.served = j.nodes[n.parent].served || n.serves()
		if n.own&suspect != 0 && !n.holdsText() && (n.own&certain != 0 || !frames.like(n) && !n.holdsCode()) {
			n.all |= n.own & (suspect | certain)
		}
	}
	for i := range j.blocks {
		j.blocks[i].flags |= j.nodes[j.blocks[i].node].all
	}
}

// offerWords are words of sentences in an offer to subscribe, at most.
const offerWords = 120

// forReaders says whether the element is called a paywall and holds what is behind it. Sites give the whole text to
// programs, and mark that part for them.
func (n *node) forReaders() bool { return n.own&(paid|certain) == paid && n.prose > offerWords }

// holdsText says whether the element holds text of the page, whatever its name.
func (n *node) holdsText() bool {
	return n.holdsMain || n.forReaders() || n.served && n.own&dishes != 0
}

// Words of a menu of dishes: of one without links, and of one with a few of them, at least.
const (
	dishWords = 8
	menuPage  = 25
	fewLinked = 10 // one of so many words is a link, at most
)

// serves says whether the element is called a menu and is one of dishes: it leads nowhere.
func (n *node) serves() bool {
	return n.own&dishes != 0 && (n.linkWords == 0 && n.words >= dishWords ||
		n.words >= menuPage && fewLinked*n.linkWords <= n.words)
}

// kinds are the flags of elements that hold whatever is inside them.
func (j *judge) kinds() flags {
	if j.thread {
		return teaser
	}
	return comments | teaser
}

// Words of notices, at most. What is longer may be all that there is: a policy, the page for those without scripts.
const (
	consentWords  = 200
	noscriptWords = 40
)

func noticeLimit(t htmlscan.Tag) int32 {
	if t == htmlscan.Noscript {
		return noscriptWords
	}
	return consentWords
}

// markHolders marks the elements around the main element, and around one that is called content and has much of the
// page's prose. No sidebar has these inside: class="content-sidebar-wrap" is around both columns.
func (j *judge) markHolders() {
	most := max(minMain, int32(wrapperShare*float64(j.nodes[0].prose)))
	for i := len(j.nodes) - 1; i > 0; i-- {
		n, up := &j.nodes[i], &j.nodes[j.nodes[i].parent]
		begins := n.own &^ up.own
		if n.holdsMain || begins&inMain != 0 || begins&inContent != 0 && begins&certain == 0 && n.prose >= most {
			up.holdsMain = true
		}
	}
}

// frameList are the frames of a page: suspect elements around much of its prose, outermost first.
type frameList struct {
	list [8]*node
	n    int
}

func (j *judge) frames(prose int32) (l frameList) {
	for i := 1; i < len(j.nodes) && l.n < len(l.list); i++ {
		if n := &j.nodes[i]; n.own&(suspect|certain) == suspect && n.prose >= prose {
			l.list[l.n] = n
			l.n++
		}
	}
	return l
}

// like says whether the element is a frame, or has text beside one of the same name: a page builder calls each
// paragraph a widget.
func (l *frameList) like(n *node) bool {
	for _, f := range l.list[:l.n] {
		if n == f || n.prose >= longBlock && n.tag == f.tag && n.name == f.name {
			return true
		}
	}
	return false
}
