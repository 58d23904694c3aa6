package parser

import (
	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Traced is a value that a rule takes from a page, for those who try rules.
type Traced struct {
	Rule  int // index among the rules
	Field string
	Value any
	Node  *html.Node // the element it is from; nil: the expression names none
}

// Trace applies site rules to the tree of a page as the crawler does, and hands each value, those of lists one by one,
// to each, until that returns false. It returns which rules are for the URL.
func (rs *Rules) Trace(u weburl.URL, root *html.Node, each func(Traced) bool) (match []bool) {
	match = make([]bool, len(rs.rules))
	of := map[*rule]int{}
	for i := range rs.rules {
		of[&rs.rules[i]] = i
	}
	more := true
	for _, r := range rs.matching(u) {
		match[of[r]] = true
		for _, f := range r.fields {
			n := 0
			f.trace(root, func(v any, node *html.Node) bool {
				n++
				more = more && each(Traced{of[r], f.name, v, node})
				return more && f.list && n < maxValues
			})
		}
	}
	return match
}

// TraceSelected does what Trace does with the policies: a value is an object, and Rule the index of its policy. rec
// is the page's record, whose text policies search; root is the tree of its body, where that is HTML. The second
// result says which policies are for the page.
func (rs *Rules) TraceSelected(rec *crawl.Record, body []byte, root *html.Node, each func(Traced) bool) (match []bool) {
	s := &source{r: &Result{MediaType: rec.ContentType, binary: looksBinary(body)}, place: place{url: rec.URL}, body: body,
		contentType: rec.ContentType, text: rec.Text, decoded: body, root: root, parsed: root != nil}
	match = make([]bool, len(rs.policies))
	sel := selection{s, maxSelected}
	for i, p := range rs.policies {
		if match[i] = p.forPage(s); !match[i] {
			continue
		}
		if p.block != nil {
			sel.traceElements(p, root, func(v any, n *html.Node) bool { return each(Traced{i, p.Name, v, n}) })
			continue
		}
		for _, v := range sel.take(p) {
			if !each(Traced{i, p.Name, v, nil}) {
				break
			}
		}
	}
	return match
}

func (s *selection) traceElements(p *policy, root *html.Node, yield func(any, *html.Node) bool) {
	defer func() { _ = recover() }() // as take has it
	if root == nil {
		return
	}
	for _, n := range s.elements(p.block, root) {
		if object := s.objectOf(p, n); len(object) > 0 && !yield(object, n) {
			return
		}
	}
}

// trace calls yield with each value and its element, as extract finds them.
func (f *field) trace(root *html.Node, yield func(any, *html.Node) bool) {
	defer func() { _ = recover() }() // a selector that fails on this page finds nothing
	give := func(raw string, n *html.Node) bool {
		v, ok := f.value(raw, &Result{})
		return !ok || yield(v, n)
	}
	if f.xpath != nil {
		f.eachXPath(root, give)
		return
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && f.css.Match(n) {
			if raw, ok := f.text(n); ok && !give(raw, n) {
				return
			}
		}
	}
}

// Decode returns a body as UTF-8, as the crawler reads it: media type and charset are those of its record.
func Decode(body []byte, mediaType, charset string) []byte {
	contentType := mediaType
	if charset != "" {
		contentType += "; charset=" + charset
	}
	text, _, _ := charsets.Decode(body, contentType)
	return text
}

// RuleName is what messages call a rule.
func RuleName(rules []crawl.SiteRule, i int) string {
	if rules[i].Name != "" {
		return rules[i].Name
	}
	return "rule " + scalar(float64(i+1))
}
