package ruletest

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// Outline is the tree of a page, to pick an element from: elements in the order of the page, as plain text.
type Outline struct {
	Nodes []Node `json:"nodes"`
	Cut   bool   `json:"cut,omitempty"` // it has more elements
}

// Node is an element of an outline.
type Node struct {
	Index int    `json:"index"` // among all elements of the page, in order; html is 0
	Depth int    `json:"depth"` // 0: html
	Tag   string `json:"tag"`
	ID    string `json:"id,omitempty"`
	Class string `json:"class,omitempty"`
	Note  string `json:"note,omitempty"` // the attribute that says what it is about
	Text  string `json:"text,omitempty"` // of itself, not of the elements within
}

// Bounds of an outline.
const (
	maxOutline = 4_000
	maxNode    = 120 // bytes of a text
)

// unlisted are elements of which nothing is seen on a page.
var unlisted = map[string]bool{"script": true, "style": true, "template": true, "noscript": true, "svg": true,
	"math": true}

// OutlineOf returns the outline of a page. What scripts and styles hold is left out.
func OutlineOf(page []byte) (*Outline, error) {
	tree, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, ErrDepth
	}
	o, skip := &Outline{Nodes: []Node{}}, (*html.Node)(nil)
	each(tree, func(i, depth int, n *html.Node) bool {
		switch {
		case skip != nil && isWithin(n, skip):
		case unlisted[n.Data]:
			skip = n
		case len(o.Nodes) == maxOutline:
			o.Cut = true
			return false
		default:
			o.Nodes = append(o.Nodes, nodeOf(i, depth, n))
		}
		return true
	})
	return o, nil
}

// each hands each element of a tree to use, with its index and depth, until that returns false.
func each(tree *html.Node, use func(index, depth int, n *html.Node) bool) {
	depth, index := -1, 0
	for n := tree; n != nil; {
		if n.Type == html.ElementNode {
			if !use(index, depth, n) {
				return
			}
			index++
		}
		if n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != nil && n != tree && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n == nil || n == tree {
			return
		}
		n = n.NextSibling
	}
}

func isWithin(n, outer *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

func nodeOf(index, depth int, n *html.Node) Node {
	out := Node{Index: index, Depth: depth, Tag: plaintext.Of(n.Data, 40),
		ID:    plaintext.Of(elements.Attr(n, "id"), maxNode),
		Class: plaintext.Of(strings.Join(strings.Fields(elements.Attr(n, "class")), " "), maxNode)}
	for _, name := range append(elements.Meaning[:len(elements.Meaning):len(elements.Meaning)], "content", "src", "href",
		"alt", "datetime") {
		if v := elements.Attr(n, name); v != "" && len(out.Note) < maxNode {
			out.Note = strings.TrimSpace(out.Note + " " + name + "=" + plaintext.Of(v, maxNode))
		}
	}
	var text strings.Builder
	for c := n.FirstChild; c != nil && text.Len() < maxNode; c = c.NextSibling {
		if c.Type == html.TextNode {
			text.WriteString(" " + c.Data[:min(len(c.Data), 4*maxNode)])
		}
	}
	out.Text = plaintext.Of(strings.Join(strings.Fields(text.String()), " "), maxNode)
	return out
}
