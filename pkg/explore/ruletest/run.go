package ruletest

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of an answer.
const (
	maxMatches = 500
	maxValue   = 2_000
)

// Run applies rules to a page in UTF-8. u says which rules are for it; with the zero URL all are. Faults of the rules are
// errors.
func Run(rules []crawl.SiteRule, u weburl.URL, doc []byte) (*Result, error) {
	if u.IsZero() {
		rules = slices.Clone(rules)
		for i := range rules {
			rules[i].Host, rules[i].Match = "", ""
		}
	}
	compiled, err := parser.CompileRules(rules)
	if err != nil {
		return nil, err
	}
	tree, err := html.Parse(bytes.NewReader(doc))
	if err != nil {
		return nil, ErrDepth
	}
	at, err := places(doc, tree)
	if err != nil {
		return nil, ErrDepth
	}
	r := &Result{Matches: []Match{}, Missing: []string{}, Others: []string{}}
	where := linesOf(doc)
	taken, found := map[string]int{}, map[[2]string]bool{}
	match := compiled.Trace(u, tree, func(t parser.Traced) bool {
		name := parser.RuleName(rules, t.Rule)
		if _, known := taken[t.Field]; !known {
			taken[t.Field] = t.Rule
		}
		found[[2]string{name, t.Field}] = true
		m := Match{Rule: name, Field: t.Field, Value: short(t.Value), Taken: taken[t.Field] == t.Rule}
		m.locate(t.Node, at, where)
		r.Matches = append(r.Matches, m)
		r.Cut = len(r.Matches) == maxMatches
		return !r.Cut
	})
	r.missing(rules, match, found)
	return r, nil
}

// missing notes which fields found nothing, and which rules are not for the URL.
func (r *Result) missing(rules []crawl.SiteRule, match []bool, found map[[2]string]bool) {
	for i := range rules {
		name := parser.RuleName(rules, i)
		if !match[i] {
			r.Others = append(r.Others, name)
			continue
		}
		for _, f := range rules[i].Fields {
			if !found[[2]string{name, f.Name}] && !r.Cut {
				r.Missing = append(r.Missing, name+"/"+f.Name)
			}
		}
	}
}

// short bounds a value.
func short(v any) any {
	s, ok := v.(string)
	if !ok || len(s) <= maxValue {
		return v
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}

// locate notes where the element of a match stands.
func (m *Match) locate(n *html.Node, at map[*html.Node]place, where *lines) {
	for n != nil && n.Type != html.ElementNode { // a text of an element
		n = n.Parent
	}
	if n == nil {
		return
	}
	m.Path = pathOf(n)
	p, known := at[n]
	if !known || p.end <= p.start || p.end > len(where.doc) {
		return
	}
	m.Range = &Range{Start: p.start, End: p.end}
	m.Range.Line, m.Range.Column = where.at(p.start)
	m.Range.EndLine, m.Range.EndColumn = where.at(p.end)
}

// maxPath bounds the path of an element.
const maxPath = 12

// pathOf names an element by those that it lies in.
func pathOf(n *html.Node) string {
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
