package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNested is how deep lists and quotes are within others: each level is an indent of every line within.
const maxNested = 12

// tidier prepares a tree for the library.
type tidier struct {
	resolve func(string) string
	nested  int
	guard   bool // brackets: they are many
}

// maxBrackets is how many opening brackets the library may look at: for each it reads on to the end of the line. More
// are kept from it, and all of them have a backslash then.
const maxBrackets = 500

func tidy(body *html.Node, resolve func(string) string) {
	t := &tidier{resolve: resolve}
	brackets := 0
	for d := range body.Descendants() {
		if d.Type == html.TextNode {
			brackets += strings.Count(d.Data, "[")
		}
	}
	t.guard = brackets > maxBrackets
	t.children(body)
}

func (t *tidier) children(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		t.node(c)
		c = next
	}
}

// node tidies an element, its content first, so that what is said of an element holds for tidy content.
func (t *tidier) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		n.Data = cleanText(n.Data)
		if t.guard && strings.Contains(n.Data, "[") && !withinCode(n) {
			n.Data = guards.Replace(n.Data)
		}
		return
	case html.ElementNode:
	default:
		remove(n)
		return
	}
	if n.DataAtom == atom.Pre || n.DataAtom == atom.Listing || n.DataAtom == atom.Xmp {
		tidyPre(n) // its white space counts
		return
	}
	deeper := isList(n) || n.DataAtom == atom.Blockquote || n.DataAtom == atom.Dl
	if deeper && t.nested == maxNested {
		rename(n, atom.Div)
		deeper = false
	}
	if deeper {
		t.nested++
	}
	t.children(n)
	if deeper {
		t.nested--
	}
	t.element(n)
}

// element tidies an element whose content is tidy.
func (t *tidier) element(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		t.link(n)
	case atom.Img:
		t.image(n)
	case atom.Br, atom.Hr:
		n.Attr = nil
	case atom.Input:
		tidyTask(n)
	case atom.Td, atom.Th:
		tidyCell(n)
	case atom.Table:
		tidyTable(n)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		tidyCode(n)
	default:
		if isEmpty(n) && !isPartOfTable(n) {
			remove(n)
			return
		}
		tidyOther(n)
	}
}

func tidyOther(n *html.Node) {
	switch n.DataAtom {
	case atom.B, atom.Strong, atom.I, atom.Em, atom.Del, atom.S, atom.Strike, atom.Var, atom.Cite, atom.Dfn:
		tidyEmphasis(n)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		flatten(n)
	case atom.Dl:
		tidyDefinitions(n)
	case atom.Ul, atom.Ol:
		tidyList(n)
	case atom.Dir, atom.Menu:
		rename(n, atom.Ul)
		tidyList(n)
	case atom.Center, atom.Summary, atom.Dd, atom.Dt, atom.Li, atom.Caption:
		if n.DataAtom == atom.Center || n.DataAtom == atom.Summary {
			rename(n, atom.Div)
		}
	}
}

// cleanText takes out the characters that the library keeps for itself, and those that are not seen.
func cleanText(s string) string {
	if !strings.ContainsAny(s, "\a\x00\uF002\uF003\uF004\u00AD\u200B\u2060\uFEFF") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\a', 0, '\uF002', bracketOpen, bracketClose, '\u00AD', '\u200B', '\u2060', '\uFEFF':
			return -1
		}
		return r
	}, s)
}

// isEmpty reports whether an element shows nothing.
func isEmpty(n *html.Node) bool {
	return !has(n, func(d *html.Node) bool {
		return d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" || d.DataAtom == atom.Img || d.DataAtom == atom.Hr
	})
}

func isPartOfTable(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		return true
	}
	return false
}

// flatten makes the content of a heading or a link one line: blocks become words.
func flatten(n *html.Node) {
	for d := n.FirstChild; d != nil; {
		next := d.NextSibling
		if d.Type == html.ElementNode {
			flatten(d)
		}
		switch {
		case d.DataAtom == atom.Br, d.DataAtom == atom.Hr:
			n.InsertBefore(textNode(" "), d)
			remove(d)
		case isBlock(d):
			n.InsertBefore(textNode(" "), d)
			n.InsertBefore(textNode(" "), next)
			rename(d, atom.Span)
		}
		d = next
	}
}

// tidyEmphasis drops emphasis around blocks, which Markdown has none for, and where its marks would be read as text.
func tidyEmphasis(n *html.Node) {
	if has(n, isBlock) || n.Parent != nil && n.Parent.DataAtom == n.DataAtom || !flanked(n) {
		rename(n, atom.Span)
		return
	}
	switch n.DataAtom {
	case atom.Var, atom.Cite, atom.Dfn:
		rename(n, atom.Em)
	}
}
