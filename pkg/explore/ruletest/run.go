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

// Page is what rules are tried on. URL and Type say which rules are for it; with the zero URL all are. Text is its main
// text, which policies search.
type Page struct {
	URL  weburl.URL
	Type string // media type
	Text string
	Body []byte // in UTF-8
}

// Run applies site rules and selection policies to a page. Faults of these are errors.
func Run(rules []crawl.SiteRule, policies []crawl.Policy, page *Page) (*Result, error) {
	rules, policies = forAll(rules, policies, page.URL)
	compiled, err := parser.Compile(&crawl.Job{Rules: rules, Select: policies})
	if err != nil {
		return nil, err
	}
	u, doc := page.URL, page.Body
	if !parser.HasFields(page.Type) {
		r := &Result{Matches: []Match{}, Missing: []string{}, Others: []string{}}
		for i := range rules {
			r.Others = append(r.Others, parser.RuleName(rules, i))
		}
		r.policies(compiled, policies, page, nil, nil, nil)
		return r, nil
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
	r.policies(compiled, policies, page, tree, at, where)
	return r, nil
}

// forAll takes the conditions on URLs off the rules where there is no URL.
func forAll(rules []crawl.SiteRule, policies []crawl.Policy, u weburl.URL) ([]crawl.SiteRule, []crawl.Policy) {
	if !u.IsZero() {
		return rules, policies
	}
	rules, policies = slices.Clone(rules), slices.Clone(policies)
	for i := range rules {
		rules[i].Host, rules[i].Match = "", ""
	}
	for i := range policies {
		policies[i].Host, policies[i].Match = "", ""
	}
	return rules, policies
}

// policies notes what the selection policies take.
func (r *Result) policies(compiled *parser.Rules, policies []crawl.Policy, page *Page, tree *html.Node,
	at map[*html.Node]place, where *lines) {
	rec := &crawl.Record{URL: page.URL, ContentType: page.Type, Text: page.Text}
	found := map[string]bool{}
	match := compiled.TraceSelected(rec, page.Body, tree, func(t parser.Traced) bool {
		m := Match{Rule: t.Field, Field: t.Field, Value: t.Value, Taken: true}
		if found[t.Field] = true; t.Node != nil {
			m.locate(t.Node, at, where)
		}
		r.Matches = append(r.Matches, m)
		r.Cut = len(r.Matches) >= maxMatches
		return !r.Cut
	})
	for i := range policies {
		switch name := policies[i].Name; {
		case !match[i]:
			r.Others = append(r.Others, name)
		case !found[name] && !r.Cut:
			r.Missing = append(r.Missing, name)
		}
	}
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
	m.Path = parser.PathOf(n)
	p, known := at[n]
	if !known || p.end <= p.start || p.end > len(where.doc) {
		return
	}
	m.Range = &Range{Start: p.start, End: p.end}
	m.Range.Line, m.Range.Column = where.at(p.start)
	m.Range.EndLine, m.Range.EndColumn = where.at(p.end)
}
