package parser

import (
	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/xpath"
)

// Bounds of the elements that a policy takes from a page.
const (
	maxNested  = 10     // elements of a policy within each other
	maxDropped = 10_000 // those nested deeper, before the rest of the page is given up
	textMember = "text" // of an object without fields
)

// takeElements makes an object of each element that the policy's selector matches.
func (s *selection) takeElements(p *policy, add func(map[string]any) bool) {
	root := s.tree()
	if root == nil {
		return
	}
	for _, n := range s.elements(p.block, root) {
		if !add(s.objectOf(p, n)) {
			return
		}
	}
}

// objectOf makes an object of an element.
func (s *selection) objectOf(p *policy, n *html.Node) map[string]any {
	object := map[string]any{}
	for _, f := range p.fields {
		if v := f.extract(n, s.r); v != nil {
			object[f.name] = v
		}
	}
	if len(p.fields) == 0 {
		if text := nodeText(n); text != "" {
			s.keep(object, textMember, text)
		}
	}
	return object
}

// elements are the elements that a selector matches, in the order of the document. Those within each other are walked
// as often as they are deep, so their depth is bounded.
func (s *selection) elements(f *field, root *html.Node) (list []*html.Node) {
	depths, dropped := map[*html.Node]int{}, 0
	f.eachElement(root, func(n *html.Node) bool {
		depth := 1
		for up := n.Parent; up != nil; up = up.Parent {
			if d := depths[up]; d > 0 {
				depth = d + 1
				break
			}
		}
		switch {
		case depth > maxNested:
			dropped++
			s.r.cut(CutFields)
			return dropped < maxDropped
		case len(list) == maxValues:
			s.r.cut(CutFields)
			return false
		}
		depths[n] = depth
		list = append(list, n)
		return true
	})
	return list
}

// eachElement calls yield with each element that the field's selector matches, until yield returns false.
func (f *field) eachElement(root *html.Node, yield func(*html.Node) bool) {
	if f.xpath == nil {
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && f.css.Match(n) && !yield(n) {
				return
			}
		}
		return
	}
	v, _ := f.xpath.Evaluate(root) // one that takes too long finds nothing
	nodes, _ := v.([]xpath.Node)
	for _, n := range nodes {
		if n.IsElement() && !yield(n.HTML()) {
			return
		}
	}
}
