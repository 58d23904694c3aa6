package parser

import (
	"bytes"
	"html"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// The Markdown of a page is made from the markup of its main text, which only the classifier knows. The two share
// little: a traced pass records for each token its position and its block. When the classifier has chosen the blocks,
// the markup is the document's tags with the text of those blocks. So Markdown and text contain the same words,
// whatever rules the classifier follows.

// piece is a token of the document: a tag, an image, or text.
type piece struct {
	start, end int32
	block      int32 // index of the block that it belongs to, or would, had the block words
	flags      flags
	kind       pieceKind
}

type pieceKind uint8

const (
	tagPiece   pieceKind = iota
	selfClosed           // a tag of XHTML that closes itself
	imagePiece           // also a rule and a box to tick: they show something without words
	textPiece
	rawPiece // text without character references
	formulaPiece
)

// runTraced reads a document as run does, and notes its tokens.
func (p *pass) runTraced() (pieces []piece) {
	for {
		switch p.Next() {
		case htmlscan.Text:
			pieces = p.traceText(pieces)
		case htmlscan.StartTag:
			pieces = p.traceStart(pieces)
		case htmlscan.EndTag:
			t := p.Tag()
			x := p.piece(tagPiece)
			p.onEnd(t)
			if shapes(t, p.Name()) {
				pieces = append(pieces, x)
			}
		default:
			p.closeAnchor()
			p.endBlock()
			return pieces
		}
	}
}

func (p *pass) traceText(pieces []piece) []piece {
	shown := !p.skipRaw && !p.titleNext && !p.unseen()
	start, end := p.TextSpan()
	_, escaped := p.Text()
	formulas := len(p.formulas)
	p.onText()
	if !shown || p.textFull {
		return pieces
	}
	if formulas < len(p.formulas) {
		return p.traceFormula(pieces)
	}
	x := piece{start: int32(start), end: int32(end), block: int32(len(p.blocks)), flags: p.flags, kind: textPiece}
	if !escaped {
		x.kind = rawPiece
	}
	return append(pieces, x)
}

func (p *pass) traceStart(pieces []piece) []piece {
	t, kind := p.Tag(), tagPiece
	closed, formulas := p.xhtml && p.SelfClosing(), len(p.formulas)
	p.onStart(t)
	switch {
	case formulas < len(p.formulas):
		return p.traceFormula(pieces)
	case t == htmlscan.Img && p.pictured:
		return pieces
	case t == htmlscan.Img && p.veil.depth > 0:
		return pieces
	case t == htmlscan.Img, t == htmlscan.Hr, t == htmlscan.Input && equalFold(p.attr("type"), "checkbox"):
		kind = imagePiece
	case !shapes(t, p.Name()) || p.flags&inForeign != 0:
		return pieces
	case closed && t != htmlscan.Br:
		kind = selfClosed
	}
	return append(pieces, p.piece(kind))
}

// traceFormula notes the formula that was just written; start is its number.
func (p *pass) traceFormula(pieces []piece) []piece {
	return append(pieces, piece{start: int32(len(p.formulas) - 1), end: int32(len(p.formulas) - 1),
		block: int32(len(p.blocks)), flags: p.flags, kind: formulaPiece})
}

// piece is the tag that was just read.
func (p *pass) piece(kind pieceKind) piece {
	start, end := p.TagSpan()
	return piece{start: int32(start), end: int32(end), block: int32(len(p.blocks)), flags: p.flags, kind: kind}
}

// shapes reports whether an element shapes the text in a way that Markdown knows, or parts it.
func shapes(t htmlscan.Tag, name []byte) bool {
	switch t {
	case htmlscan.Other:
		switch strings.ToLower(string(name[:min(len(name), 8)])) {
		case "del", "strike", "kbd", "samp", "tt", "dfn", "cite":
			return true
		}
		return false
	case htmlscan.A, htmlscan.B, htmlscan.Code, htmlscan.Em, htmlscan.I, htmlscan.S, htmlscan.Strong, htmlscan.Br,
		htmlscan.Var:
		return true
	case htmlscan.Body, htmlscan.Frameset, htmlscan.Plaintext, htmlscan.Optgroup, htmlscan.Form:
		return false
	}
	return traits[t].block
}

// markup writes the tags of a document with the text of the blocks in keep, at most limit bytes. full says that there
// were more.
func (p *pass) markup(pieces []piece, keep []bool, limit int) (doc []byte, full bool) {
	src := p.Source()
	doc = make([]byte, 0, min(len(src), limit))
	for i := range pieces {
		x := &pieces[i]
		token := src[x.start:x.end]
		switch x.kind {
		case imagePiece:
			if !p.besideText(x, keep) {
				continue
			}
		case textPiece, rawPiece, formulaPiece:
			if int(x.block) >= len(keep) || !keep[x.block] {
				continue
			}
		}
		if len(doc)+len(token) > limit {
			return doc, true
		}
		switch x.kind {
		case formulaPiece:
			doc = appendFormula(doc, &p.formulas[x.start])
		case rawPiece:
			doc = append(doc, html.EscapeString(string(token))...)
		case selfClosed:
			doc = append(doc, token...)
			doc = append(append(append(doc, "</"...), tagName(token)...), '>')
		default:
			doc = append(doc, token...)
		}
	}
	return doc, false
}

// besideText reports whether an image is in the main text: before or behind a block of it, among the same elements.
func (p *pass) besideText(x *piece, keep []bool) bool {
	if x.flags&(hidden|boilerplate) != 0 {
		return false
	}
	for _, i := range []int{int(x.block), int(x.block) - 1} {
		if i >= 0 && i < len(keep) && keep[i] && p.blocks[i].flags == x.flags {
			return true
		}
	}
	return false
}

// tagName is the name in a start tag.
func tagName(token []byte) []byte {
	name := token[1:]
	if i := bytes.IndexAny(name, " \t\n\f\r/>"); i >= 0 {
		name = name[:i]
	}
	return name
}
