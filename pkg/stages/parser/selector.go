package parser

import (
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/selector"
)

// Selector matches elements as the css of a field does.
type Selector struct{ css cascadia.SelectorGroup }

// CompileSelector compiles the css of a field.
func CompileSelector(css string) (Selector, error) {
	group, err := selector.Parse(css)
	return Selector{group}, wrapSelector("css", css, err)
}

// Match reports whether it matches an element. One that fails on a page matches nothing, as in the crawl.
func (s Selector) Match(n *html.Node) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return n.Type == html.ElementNode && s.css.Match(n)
}

// TextOf is the text of an element as a field takes it: white space folded, without scripts and styles. That of a
// script of data, such as JSON-LD, is its source.
func TextOf(n *html.Node) string { return nodeText(n) }

// IsData reports whether an element is a script of data, whose text is its source.
func IsData(n *html.Node) bool { return isJSON(n) }

// InType turns a text into a value of a field's type, "", string, number, integer, bool or date; false where it is
// none.
func InType(kind, text string) (any, bool) {
	convert := converters[kind]
	if convert == nil {
		return nil, false
	}
	return convert(text)
}

// TextOfValue is a value of a field as a text.
func TextOfValue(v any) string { return scalar(v) }
