package markdown

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// flanked reports whether the marks of an emphasis are read as such: one beside a punctuation character within counts
// only where white space or punctuation is on its other side (CommonMark 0.31, 6.2, flanking delimiter runs). A tilde
// beside those of a deletion would be one of them.
func flanked(n *html.Node) bool {
	l := &neighbours{of: n, left: maxNeighbours}
	first, last, before, after := l.edge(n, true), l.edge(n, false), l.beside(false), l.beside(true)
	if mark(n) == '~' && (first == '~' || last == '~' || before == '~' || after == '~') {
		return false
	}
	return (!isPunct(first) || isBoundary(before)) && (!isPunct(last) || isBoundary(after))
}

// neighbours looks for the characters at the marks of an emphasis.
type neighbours struct {
	of   *html.Node
	left int // nodes that may still be looked at
}

// maxNeighbours bounds the nodes that are looked at for one emphasis: a page may have many that show nothing.
const maxNeighbours = 64

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func isBoundary(r rune) bool { return unicode.IsSpace(r) || isPunct(r) }

// beside is the character after the emphasis, or before it; white space where a line ends there.
func (l *neighbours) beside(after bool) rune {
	if r := l.edge(l.of, !after); unicode.IsSpace(r) {
		return r // it will stand outside
	}
	for at := l.of; at != nil && !isBlock(at); at = at.Parent {
		if at != l.of && mark(at) != 0 && mark(at) != mark(l.of) {
			return mark(at) // it lies at the edge of that
		}
		for s := sibling(at, after); s != nil; s = sibling(s, after) {
			if isBlock(s) {
				return ' '
			}
			if r := l.edge(s, after); r != 0 {
				return r
			}
		}
	}
	return ' '
}

func sibling(n *html.Node, after bool) *html.Node {
	if after {
		return n.NextSibling
	}
	return n.PrevSibling
}

// unknown stands for what was not looked at.
const unknown = 'x'

// edge is the first character of what a node is written as, or the last one; 0: nothing is. The marks of an emphasis
// are passed over where they are those of the emphasis itself: both are one run.
func (l *neighbours) edge(n *html.Node, first bool) rune {
	if l.left--; l.left < 0 {
		return unknown
	}
	switch {
	case n.Type == html.TextNode && first:
		return firstRune(n.Data)
	case n.Type == html.TextNode:
		r, size := utf8.DecodeLastRuneInString(n.Data)
		return r * rune(min(size, 1))
	case n.DataAtom == atom.Br:
		return ' '
	case n.DataAtom == atom.Img:
		return '!'
	}
	c := n.LastChild
	if first {
		c = n.FirstChild
	}
	for ; c != nil; c = sibling(c, first) {
		if r := l.edge(c, first); r != 0 {
			return l.written(n, r)
		}
	}
	return 0
}

// written is what is at the edge of an element whose content has r there.
func (l *neighbours) written(n *html.Node, r rune) rune {
	switch {
	case n == l.of:
	case mark(n) != 0 && mark(n) != mark(l.of):
		return mark(n)
	case n.DataAtom == atom.A, n.DataAtom == atom.Code:
		return '`' // or a bracket
	}
	return r
}

func firstRune(s string) rune {
	r, size := utf8.DecodeRuneInString(s)
	return r * rune(min(size, 1))
}

// mark is the character that an emphasis is marked by; 0: an element is none.
func mark(n *html.Node) rune {
	switch n.DataAtom {
	case atom.B, atom.Strong, atom.I, atom.Em, atom.Var, atom.Cite, atom.Dfn:
		return '*'
	case atom.Del, atom.S, atom.Strike:
		return '~'
	}
	return 0
}
