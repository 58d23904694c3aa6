package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func bodyOf(root *html.Node) *html.Node {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Body {
			return n
		}
	}
	return nil
}

func count(root *html.Node) (n int) {
	for range root.Descendants() {
		n++
	}
	return n
}

func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

// rename makes another element of n; its attributes go.
func rename(n *html.Node, to atom.Atom) { n.DataAtom, n.Data, n.Attr = to, to.String(), nil }

func remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// unwrap puts the children of n in its place.
func unwrap(n *html.Node) {
	for n.FirstChild != nil {
		c := n.FirstChild
		n.RemoveChild(c)
		n.Parent.InsertBefore(c, n)
	}
	remove(n)
}

// wrap puts an element around n.
func wrap(n *html.Node, in atom.Atom) {
	w := &html.Node{Type: html.ElementNode, DataAtom: in, Data: in.String()}
	n.Parent.InsertBefore(w, n)
	n.Parent.RemoveChild(n)
	w.AppendChild(n)
}

func textNode(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// has reports whether n has a descendant of which is says so.
func has(n *html.Node, is func(*html.Node) bool) bool {
	for d := range n.Descendants() {
		if is(d) {
			return true
		}
	}
	return false
}

// plainText is the text of an element, with a line break for each br and div.
func plainText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br, (d.DataAtom == atom.Div || d.DataAtom == atom.P) && b.Len() > 0 &&
			!strings.HasSuffix(b.String(), "\n"):
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// isBlock reports whether an element begins on a line of its own.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Details, atom.Dialog, atom.Dd, atom.Div,
		atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6,
		atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section,
		atom.Table, atom.Ul,
		atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Summary, atom.Center, atom.Dir,
		atom.Menu:
		return true
	}
	return false
}

func isList(n *html.Node) bool { return n.DataAtom == atom.Ul || n.DataAtom == atom.Ol }
