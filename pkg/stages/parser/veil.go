package parser

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// veil is an element within a line of text that is not shown. Its text is passed over and breaks no line, unlike that
// of hidden elements that are blocks.
type veil struct {
	tag   htmlscan.Tag
	depth int32 // of elements of that tag; zero: all is shown
}

// veilStart looks at a start tag. A veil ends where a block begins or ends, at the latest: an end tag that was
// forgotten takes no more than the paragraph.
func (p *pass) veilStart(t htmlscan.Tag) {
	if p.veil.depth > 0 {
		switch {
		case traits[t].block:
			p.veil.depth = 0
		case t == p.veil.tag && t != htmlscan.A && !p.SelfClosing():
			p.veil.depth++
		}
		return
	}
	switch {
	case traits[t].veil:
		if p.Attrs() > 0 && p.veils(t) {
			p.veil = veil{t, 1}
		}
	case t == htmlscan.Other:
		if p.flags&inForeign != 0 && !p.SelfClosing() && bytes.HasPrefix(p.Name(), []byte("annotation")) {
			p.veil = veil{t, 1} // the formula once more, in another notation
		}
	}
}

// veilEnd looks at an end tag behind a veil.
func (p *pass) veilEnd(t htmlscan.Tag) {
	switch {
	case traits[t].block, t == htmlscan.Math && p.veil.tag == htmlscan.Other:
		p.veil.depth = 0
	case t == p.veil.tag:
		p.veil.depth--
	}
}

// veils says whether the element that begins is not shown: by its attributes, or as what MediaWiki writes behind
// headings to edit them, and what KaTeX and MathJax draw of the formula beside it.
func (p *pass) veils(t htmlscan.Tag) (off bool) {
	var class []byte
	for i := range p.Attrs() {
		switch name, val := p.Attr(i); string(name) {
		case "class":
			class = first(class, val)
		case "hidden":
			off = off || hiddenHint(val) != 0
		case "style":
			off = off || displayNone(val)
		}
	}
	if off {
		return !bytes.Contains(class, []byte("math")) // MediaWiki shows a picture of the formula instead
	}
	return t == htmlscan.Span && (bytes.Contains(class, []byte("editsection")) ||
		bytes.HasPrefix(class, []byte("katex-html")) || bytes.HasPrefix(class, []byte("MathJax_")) ||
		string(class) == "MathJax" && bytes.HasPrefix(p.attr("id"), []byte("MathJax-")))
}

// hiddenHint is what a hidden attribute says. What is "until-found" is text of the page that opens at a click.
func hiddenHint(val []byte) flags {
	if equalFold(bytes.TrimSpace(val), "until-found") {
		return 0
	}
	return hidden
}

// unseen says whether the text that comes is not shown, and is within a line: behind a veil or in a picture.
func (p *pass) unseen() bool { return p.veil.depth > 0 || p.open[htmlscan.Svg] > 0 }

// veiledText keeps what a link says that shows no other text.
func (p *pass) veiledText(raw []byte) {
	if p.anchor >= 0 && len(bytes.TrimSpace(p.links[p.anchor].veiled)) == 0 {
		p.links[p.anchor].veiled = raw
	}
}
