package parser

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxPath bounds the path of an element.
const maxPath = 12

// PathOf names an element by those that it lies in.
func PathOf(n *html.Node) string {
	for n != nil && n.Type != html.ElementNode { // a text of an element
		n = n.Parent
	}
	var parts []string
	for ; n != nil && n.Type == html.ElementNode && len(parts) < maxPath; n = n.Parent {
		id, classes := "", ""
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && a.Val != "" && len(a.Val) < 60:
				id = "#" + a.Val
			case a.Key == "class" && a.Val != "" && len(a.Val) < 120:
				classes = "." + strings.Join(strings.Fields(a.Val), ".")
			}
		}
		parts = append(parts, n.Data+id+classes)
	}
	slices.Reverse(parts)
	return strings.Join(parts, " > ")
}
