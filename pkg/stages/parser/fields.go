package parser

import (
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/xpath"
)

// Bounds of what fields take from a page.
const (
	maxValues = 1000     // of a list
	maxValue  = 64 << 10 // bytes of a value
)

// field is a compiled crawl.FieldRule.
type field struct {
	name    string
	css     cascadia.SelectorGroup
	xpath   *xpath.Expr
	attr    string
	regex   *regexp.Regexp
	list    bool
	convert converter // nil: the inner HTML as a string

	pointer jsonpointer.Pointer // of a policy that reads JSON
	own     bool                // its value is of the type that it has in JSON
}

// fields are what the rules extract from a document. If several rules have a field of one name, the first that finds
// something counts.
func (s *source) fields(rules []*rule) (out []crawl.Field) {
	seen := map[string]bool{}
	for _, rule := range rules {
		for _, f := range rule.fields {
			root := s.tree()
			if root == nil {
				return nil
			}
			if v := f.extract(root, s.r); v != nil && !seen[f.name] {
				seen[f.name] = true
				out = append(out, crawl.Field{Name: f.name, Value: v})
			}
		}
	}
	return out
}

// extract returns the field's value; nil if the page has none. A selector that fails on this page finds nothing; the
// rest of the page is kept.
func (f *field) extract(root *html.Node, r *Result) (value any) {
	defer func() {
		if recover() != nil {
			value = nil
		}
	}()
	var values []any
	f.each(root, func(raw string) bool {
		v, ok := f.value(raw, r)
		if ok {
			values = append(values, v)
		}
		if len(values) == maxValues {
			r.cut(CutFields)
		}
		return len(values) < maxValues && (f.list || !ok)
	})
	switch {
	case len(values) == 0:
		return nil
	case f.list:
		return values
	}
	return values[0]
}

// value makes a value of a match's text.
func (f *field) value(raw string, r *Result) (any, bool) {
	if f.regex != nil {
		m := f.regex.FindStringSubmatch(raw)
		if m == nil {
			return nil, false
		}
		raw = m[min(1, len(m)-1)]
	}
	if len(raw) > maxValue {
		r.cut(CutFields)
		raw = string(cutAt([]byte(raw), maxValue))
	}
	if f.convert == nil {
		return raw, raw != ""
	}
	return f.convert(raw)
}

// each calls yield with the text of each match, in the order of the document, until yield returns false.
func (f *field) each(root *html.Node, yield func(string) bool) {
	if f.xpath != nil {
		f.eachXPath(root, func(raw string, _ *html.Node) bool { return yield(raw) })
		return
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && f.css.Match(n) {
			if raw, ok := f.text(n); ok && !yield(raw) {
				return
			}
		}
	}
}

// eachXPath does that with an XPath expression; the node is nil where its value is none. One that takes too long on
// this page finds nothing.
func (f *field) eachXPath(root *html.Node, yield func(string, *html.Node) bool) {
	v, err := f.xpath.Evaluate(root)
	if err != nil {
		return
	}
	nodes, ok := v.([]xpath.Node)
	if !ok {
		yield(scalar(v), nil)
		return
	}
	for _, n := range nodes {
		var raw string
		ok := true
		if n.IsElement() {
			raw, ok = f.text(n.HTML())
		} else {
			raw = n.Text()
		}
		if ok && !yield(raw, n.HTML()) {
			return
		}
	}
}

// text is the match's attribute, inner HTML or text.
func (f *field) text(n *html.Node) (string, bool) {
	switch {
	case f.attr != "":
		for _, a := range n.Attr {
			if a.Key == f.attr {
				return strings.TrimSpace(a.Val), true
			}
		}
		return "", false
	case f.convert == nil:
		return innerHTML(n), true
	}
	return nodeText(n), true
}

func innerHTML(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if b.Len() > maxValue {
			break
		}
		_ = html.Render(&b, c) // a strings.Builder does not fail
	}
	return strings.TrimSpace(b.String())
}

// maxNodeText bounds how much of an element's text is read, white space included: sixteen times what a value may have.
const maxNodeText = 16 * maxValue

// nodeText is the text of an element, white space folded, with white space between blocks. A script has none, unless it
// holds data and was selected itself.
func nodeText(n *html.Node) string {
	if isJSON(n) {
		return jsonText(n)
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if b.Len() > maxNodeText {
			break
		}
		switch d.Type {
		case html.TextNode:
			if p := d.Parent; p.Data != "script" && p.Data != "style" {
				b.WriteString(d.Data)
			}
		case html.ElementNode:
			if breaksText[d.Data] {
				b.WriteByte(' ')
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// breaksText are the elements that part words.
var breaksText = map[string]bool{"br": true, "p": true, "div": true, "li": true, "td": true, "th": true, "tr": true,
	"dt": true, "dd": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "section": true,
	"ul": true, "ol": true}
