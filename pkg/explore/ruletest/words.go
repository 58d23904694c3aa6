package ruletest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
)

// maxLabel bounds the text of a label.
const maxLabel = 40

// labelOf is the element before another that says what it is, such as the head of a row with two cells, and its text;
// nil: there is none. Of elements that are all alike, only those without a name of their own are asked for so.
func labelOf(n *html.Node) (label *html.Node, text string) {
	l := n.PrevSibling
	for l != nil && l.Type != html.ElementNode {
		l = l.PrevSibling
	}
	if l == nil || !labels(l, n) || l.FirstChild == nil || l.FirstChild.Type != html.TextNode ||
		l.FirstChild.NextSibling != nil {
		return nil, ""
	}
	text = strings.TrimSpace(l.FirstChild.Data)
	if text == "" || len(text) > maxLabel || !utf8.ValidString(text) || strings.ContainsAny(text, "0123456789\n") {
		return nil, ""
	}
	return l, text
}

// labelled is a selector for an element by the label before it; empty: there is none.
func labelled(n *html.Node) string {
	l, text := labelOf(n)
	if l == nil {
		return ""
	}
	return elements.Tag(l) + ":containsOwn(" + elements.CSSString(text) + ") + " + elements.Tag(n)
}

// labels tells whether one element may be the label of the next one.
func labels(l, n *html.Node) bool {
	switch l.Data {
	case "th":
		return n.Data == "td"
	case "dt":
		return n.Data == "dd"
	case "label", "strong", "b":
		return true
	case "div", "span":
		return n.Data == l.Data && len(elements.Tokens(n, "class")) == 0 &&
			!slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "id" })
	}
	return false
}
