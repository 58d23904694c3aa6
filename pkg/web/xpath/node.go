package xpath

import (
	"strings"

	"golang.org/x/net/html"
)

// Node is a node of a document, or an attribute.
type Node struct {
	n    *html.Node
	attr int // the number of an attribute from 1; 0: the node itself
}

// HTML is the node itself, of an attribute its element.
func (n Node) HTML() *html.Node { return n.n }

// IsElement reports whether it is an element.
func (n Node) IsElement() bool { return n.attr == 0 && n.n.Type == html.ElementNode }

// Text is the string-value of a node: the value of an attribute, the text of an element with all within it.
func (n Node) Text() string {
	switch {
	case n.attr > 0:
		return n.n.Attr[n.attr-1].Val
	case n.n.Type == html.TextNode || n.n.Type == html.CommentNode:
		return n.n.Data
	}
	var b strings.Builder
	for d := range n.n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// name is the name of an element or attribute with its prefix.
func (n Node) name() (prefix, local string) {
	switch {
	case n.attr > 0:
		a := n.n.Attr[n.attr-1]
		return a.Namespace, a.Key
	case n.n.Type == html.ElementNode:
		return n.n.Namespace, n.n.Data
	}
	return "", ""
}

type testKind int

const (
	named testKind = iota // an element, of the axis attribute an attribute
	anyNode
	textNode
	commentNode
	noNode // a processing instruction: HTML has none
)

// test is a node test.
type test struct {
	kind          testKind
	prefix, local string // of a name; local may be "*"
}

func newTest(name string) test {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		prefix, local = "", name
	}
	return test{named, prefix, local}
}

func (t test) matches(n Node) bool {
	switch t.kind {
	case anyNode:
		return true
	case textNode:
		return n.attr == 0 && n.n.Type == html.TextNode
	case commentNode:
		return n.attr == 0 && n.n.Type == html.CommentNode
	case noNode:
		return false
	}
	if n.attr == 0 && n.n.Type != html.ElementNode {
		return false
	}
	prefix, local := n.name()
	switch {
	case t.prefix == "" && t.local == "*":
		return true
	case t.prefix == "":
		return strings.EqualFold(local, t.local) && (n.attr == 0 || prefix == "")
	case t.local == "*":
		return strings.EqualFold(prefix, t.prefix)
	}
	return strings.EqualFold(prefix, t.prefix) && strings.EqualFold(local, t.local) ||
		strings.EqualFold(local, t.prefix+":"+t.local) // as HTML reads <o:p>
}

// nodeSet is a set of nodes in the order of the document; reverse() alone makes another.
type nodeSet struct {
	items []Node
	flat  bool // none lies within another
}

// inOrder returns nodes without duplicates in the order of the document. It walks the smallest part of the document
// that has them all.
func (ev *evaluation) inOrder(items []Node) []Node {
	if len(items) < 2 {
		return items
	}
	wanted := make(map[*html.Node][]bool, len(items)) // by attribute
	left := 0
	for _, it := range items {
		marks := wanted[it.n]
		for len(marks) <= it.attr {
			marks = append(marks, false)
		}
		if !marks[it.attr] {
			marks[it.attr] = true
			left++
		}
		wanted[it.n] = marks
	}
	out := make([]Node, 0, left)
	for n := top(items); len(out) < left; n = following(n) {
		ev.spend(1)
		for attr, ok := range wanted[n] {
			if ok {
				out = append(out, Node{n, attr})
			}
		}
	}
	return out
}

// top is the innermost node that has all of the items within it.
func top(items []Node) *html.Node {
	within := map[*html.Node]int{} // the ancestors of the first, and how far up they are
	var up []*html.Node
	for n := items[0].n; n != nil; n = n.Parent {
		within[n] = len(up)
		up = append(up, n)
	}
	at := 0
	for _, it := range items[1:] {
		n := it.n
		for ; n.Parent != nil; n = n.Parent {
			if _, ok := within[n]; ok {
				break
			}
		}
		at = max(at, within[n])
	}
	return up[at]
}

// following is the next node in the order of the document, those within n among them; nil: there is none.
func following(n *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return behind(n)
}

// behind is the next node that is not within n.
func behind(n *html.Node) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}
