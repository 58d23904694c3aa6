package parser

import "github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"

// flags are what the open elements say about the text inside.
type flags uint16

const (
	hidden      flags = 1 << iota // not shown: template, hidden, display:none; of SVG see unseen
	boilerplate                   // by its element or role: nav, footer, button …
	suspect                       // by its class or id: class="sidebar" …; of a node or a paragraph, never inherited
	certain                       // suspect, however much of the page it holds: class="footer"
	comments                      // what readers wrote, by class or id; of a node, never inherited
	inMain                        // main, role=main
	inArticle                     // article
	inContent                     // by its class or id: id="content" …
	inForeign                     // SVG or MathML, where other rules hold for markup
	teaser                        // one of a list of hints at other pages, or called one
	atEnd                         // suspect if the name ends so: "post-author", not "author-smith"
	handbook                      // the page is documentation, by a class that only its makers use
	aside                         // under a heading that announces no text of the page
	notice                        // asks for consent to cookies, or for scripts; of a node, never inherited

	paid   // suspect, unless it is long: an offer to subscribe, or what subscribers read
	dishes // suspect, unless it has no links: a menu of pages, or of a kitchen

	// Judged for the node as a whole: see outline.
	ownFlags = suspect | certain | comments | teaser | notice | paid | dishes
)

// element is an open element that says something about its content.
type element struct {
	tag     htmlscan.Tag
	flags   flags // of the content, its ancestors' included
	node    int32 // in the outline
	start   int32 // of its content in the text buffer
	opens   bool  // a button that opens text: see opensText
	command bool  // a button that does not: with text it makes the element around it a form
}

// kind is what a block of text is.
type kind uint8

const (
	para kind = iota
	heading
	item // of a list, or of a definition list
	cell
	pre
)

// trait is what the pass has to do for an element.
type trait struct {
	block bool // a block of text ends where it starts and ends
	push  bool // goes on the stack
	veil  bool // is within a line, and may be hidden there: see veil
	kind  kind
	flags flags
}

var traits = makeTraits()

func makeTraits() (t [htmlscan.Tags]trait) {
	set := func(x trait, tags ...htmlscan.Tag) {
		for _, tag := range tags {
			t[tag] = x
		}
	}
	set(trait{block: true}, htmlscan.P, htmlscan.Blockquote, htmlscan.Address, htmlscan.Center, htmlscan.Figcaption,
		htmlscan.Caption, htmlscan.Summary, htmlscan.Hr, htmlscan.Tr, htmlscan.Thead, htmlscan.Tbody, htmlscan.Tfoot,
		htmlscan.Body, htmlscan.Dir, htmlscan.Legend, htmlscan.Hgroup, htmlscan.Frameset, htmlscan.Optgroup)
	set(trait{block: true, kind: heading}, htmlscan.H1, htmlscan.H2, htmlscan.H3, htmlscan.H4, htmlscan.H5, htmlscan.H6)
	set(trait{block: true, kind: item}, htmlscan.Li, htmlscan.Dt, htmlscan.Dd)
	set(trait{block: true, kind: pre}, htmlscan.Pre, htmlscan.Listing, htmlscan.Xmp, htmlscan.Plaintext)
	set(trait{block: true, push: true}, htmlscan.Div, htmlscan.Section, htmlscan.Form, htmlscan.Ul, htmlscan.Ol,
		htmlscan.Dl, htmlscan.Table, htmlscan.Header, htmlscan.Fieldset, htmlscan.Figure, htmlscan.Details)
	set(trait{block: true, push: true, kind: cell}, htmlscan.Td, htmlscan.Th)
	set(trait{block: true, push: true, flags: inMain}, htmlscan.Main)
	set(trait{block: true, push: true, flags: inArticle}, htmlscan.Article)
	set(trait{block: true, push: true, flags: boilerplate}, htmlscan.Nav, htmlscan.Footer, htmlscan.Aside, htmlscan.Dialog,
		htmlscan.Search, htmlscan.Menu)
	set(trait{push: true, flags: boilerplate}, htmlscan.Button, htmlscan.Select)
	set(trait{push: true, flags: suspect | notice}, htmlscan.Noscript)
	set(trait{push: true, flags: suspect}, htmlscan.Object, htmlscan.Canvas, htmlscan.Video,
		htmlscan.Audio)
	set(trait{push: true, flags: hidden}, htmlscan.Template)
	set(trait{push: true}, htmlscan.ForeignObject, htmlscan.Desc)
	set(trait{push: true, flags: inForeign}, htmlscan.Svg, htmlscan.Math)
	for _, tag := range []htmlscan.Tag{htmlscan.Span, htmlscan.A, htmlscan.B, htmlscan.I, htmlscan.Em, htmlscan.Strong,
		htmlscan.Small, htmlscan.Sup, htmlscan.Sub, htmlscan.Code} {
		t[tag].veil = true
	}
	return t
}

// push opens an element. Text before and after belongs to blocks of its own where the element changes what text is.
func (p *pass) push(t htmlscan.Tag) {
	if t == htmlscan.Td || t == htmlscan.Th {
		p.closeCell()
	}
	if p.SelfClosing() && (p.flags|traits[t].flags)&inForeign != 0 {
		return // closed at once
	}
	f := p.flags | traits[t].flags
	opens := t == htmlscan.Button && p.opensText()
	if opens {
		p.endBlock()
	}
	heads := t == htmlscan.Button && p.headsWith()
	if opens || heads {
		f = p.flags
	}
	p.className = 0
	if traits[t].block && p.Attrs() > 0 {
		f = p.hints(t, f)
	}
	if p.rowOff && (t == htmlscan.Td || t == htmlscan.Th) {
		f |= hidden
	}
	switch {
	case t == htmlscan.Header && f&(inMain|inArticle|inContent) == 0:
		f |= boilerplate // elsewhere it heads an article
	case t == htmlscan.Article || t == htmlscan.Main:
		f &^= certain // a letter of a newsletter: class="newsletter-post"
	case t == htmlscan.Template && p.isShadowRoot():
		f = p.flags // it is shown; what its head says counts no more than that of other templates
	case t == htmlscan.ForeignObject || t == htmlscan.Desc:
		f &^= inForeign // integration points: what is inside is HTML again
	}
	n := p.addNode(t, f)
	f &^= ownFlags
	p.stack = append(p.stack, element{t, f, n, int32(len(p.buf)), opens, t == htmlscan.Button && !opens && !heads})
	p.open[t]++
	p.setFlags(f)
	p.node = n
}

// headsWith says whether a heading begins with what comes now: a button there opens what the heading is about, and
// shows its text.
func (p *pass) headsWith() bool { return p.kind == heading && len(p.buf) == int(p.cur.start) }

// isShadowRoot reports whether the template that begins is the shadow root of its parent (HTML Standard, 4.12.3), by
// the attribute, or by the one that browsers knew before.
func (p *pass) isShadowRoot() bool {
	mode := first(p.attr("shadowrootmode"), p.attr("shadowroot"))
	return equalFold(mode, "open") || equalFold(mode, "closed")
}

// pop closes the innermost open element t and all inside it; nothing where there is none.
func (p *pass) pop(t htmlscan.Tag) {
	if p.open[t] == 0 {
		return
	}
	if top := &p.stack[len(p.stack)-1]; t == htmlscan.Noscript && top.tag == t && top.start <= p.cur.start {
		p.endBlock() // it was between blocks; within a paragraph it breaks no line
	} else if top.opens && t == htmlscan.Button {
		p.endQuestion()
	} else if top.command && top.tag == t && len(p.buf) > int(max(top.start, p.cur.start)) {
		p.nodes[top.node].control = true
	}
	for {
		top := p.dropTop()
		if top == t {
			break
		}
	}
	p.setFlags(p.topFlags())
	p.node = p.topNode()
}

func (p *pass) dropTop() htmlscan.Tag {
	top := p.stack[len(p.stack)-1].tag
	p.stack = p.stack[:len(p.stack)-1]
	p.open[top]--
	return top
}

func (p *pass) topFlags() flags {
	if len(p.stack) == 0 {
		return 0
	}
	return p.stack[len(p.stack)-1].flags
}

func (p *pass) topNode() int32 {
	if len(p.stack) == 0 {
		return 0
	}
	return p.stack[len(p.stack)-1].node
}

func (p *pass) setFlags(f flags) {
	if f == p.flags {
		return
	}
	if (f^p.flags)&^inForeign != 0 {
		p.endBlock() // a formula or an icon within a line breaks none
	}
	if (f^p.flags)&inForeign != 0 {
		p.AllowCDATA(p.xhtml || f&inForeign != 0)
	}
	p.flags = f
}

// cellDepth bounds the search for an open cell, so that many cells in a deep tree take no quadratic time.
const cellDepth = 32

// closeCell closes a table cell whose end tag was left out.
func (p *pass) closeCell() {
	for i := len(p.stack) - 1; i >= max(0, len(p.stack)-cellDepth); i-- {
		switch t := p.stack[i].tag; t {
		case htmlscan.Td, htmlscan.Th:
			p.pop(t)
			return
		case htmlscan.Table:
			return
		}
	}
}

// enterForeign applies the rules for markup in SVG and MathML (HTML Standard, 13.2.6.5): some elements lead back to
// HTML, and the others have no raw text.
func (p *pass) enterForeign(t htmlscan.Tag) {
	switch t {
	case htmlscan.B, htmlscan.Blockquote, htmlscan.Body, htmlscan.Br, htmlscan.Center, htmlscan.Code, htmlscan.Dd,
		htmlscan.Div, htmlscan.Dl, htmlscan.Dt, htmlscan.Em, htmlscan.Embed, htmlscan.H1, htmlscan.H2, htmlscan.H3,
		htmlscan.H4, htmlscan.H5, htmlscan.H6, htmlscan.Head, htmlscan.Hr, htmlscan.I, htmlscan.Img, htmlscan.Li,
		htmlscan.Listing, htmlscan.Menu, htmlscan.Meta, htmlscan.Ol, htmlscan.P, htmlscan.Pre, htmlscan.Ruby, htmlscan.S,
		htmlscan.Small, htmlscan.Span, htmlscan.Strong, htmlscan.Sub, htmlscan.Sup, htmlscan.Table, htmlscan.U, htmlscan.Ul,
		htmlscan.Var:
		for len(p.stack) > 0 && p.topFlags()&inForeign != 0 {
			p.dropTop()
		}
		p.setFlags(p.topFlags())
		p.node = p.topNode()
	default:
		p.NextIsMarkup()
	}
}
