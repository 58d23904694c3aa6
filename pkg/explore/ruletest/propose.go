package ruletest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// Proposed are selectors for an element of a page, the most specific one first, the most robust one last.
type Proposed struct {
	Path      string     `json:"path"` // of the element
	Name      string     `json:"name"` // that a field of it may have
	Proposals []Proposal `json:"proposals"`
	Pages     int        `json:"pages"`   // of the sample
	NoBody    int        `json:"no_body"` // whose bodies are not kept
}

// Proposal is one of them, with what it matches.
type Proposal struct {
	CSS     string `json:"css"`
	Attr    string `json:"attr,omitempty"` // whose value says what the element is about; empty: its text does
	Why     string `json:"why"`            // what it goes by
	Here    int    `json:"here"`           // elements that it matches on the page
	Value   any    `json:"value"`          // that a field gets from the page; nil: none
	Matches int    `json:"matches"`        // over the pages of the sample
	OnPages int    `json:"on_pages"`       // pages of the sample that it matches on
	Once    int    `json:"once"`           // of these, where it matches once

	rank     int
	selector parser.Selector
}

// maxProposals is how many there are.
const maxProposals = 5

// Propose proposes selectors for the element with an index on a page. Each was tried, and matches the element. stop is
// asked often: a hostile page can make counting long.
func Propose(page []byte, index int, stop func() error) (*Proposed, error) {
	tree, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, ErrDepth
	}
	var node *html.Node
	each(tree, func(i, _ int, n *html.Node) bool {
		if i == index {
			node = n
		}
		return i < index
	})
	if node == nil {
		return nil, ErrIndex
	}
	out := &Proposed{Path: plaintext.Of(parser.PathOf(node), maxValue), Name: nameFor(node), Proposals: []Proposal{}}
	attr := attrFor(node)
	for _, c := range chosen(node) {
		c.Attr = attr
		if c.Here, err = c.count(tree, stop); err != nil {
			return nil, err
		}
		c.Value = c.valueOn(tree)
		out.Proposals = append(out.Proposals, c)
	}
	return out, nil
}

// valueOn is what a field with the selector gets from a page.
func (p *Proposal) valueOn(tree *html.Node) (value any) {
	rules, err := parser.CompileRules(
		[]crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "value", CSS: p.CSS, Attr: p.Attr}}}})
	if err != nil {
		return nil
	}
	var none parser.Traced
	got := none
	rules.Trace(noURL, tree, func(t parser.Traced) bool { got = t; return false })
	if s, ok := got.Value.(string); ok {
		return plaintext.Of(s, 200)
	}
	return got.Value
}

// count counts what a proposal matches.
func (p *Proposal) count(tree *html.Node, stop func() error) (n int, err error) {
	each(tree, func(i, _ int, e *html.Node) bool {
		if p.selector.Match(e) {
			n++
		}
		if i%32 == 31 {
			err = stop()
		}
		return err == nil
	})
	return n, err
}

// Count counts what the proposals match on another page.
func (p *Proposed) Count(page []byte, stop func() error) error {
	tree, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return ErrDepth
	}
	p.Pages++
	for i := range p.Proposals {
		c := &p.Proposals[i]
		found, err := c.count(tree, stop)
		if err != nil {
			return err
		}
		if c.Matches += found; found > 0 {
			c.OnPages++
		}
		if found == 1 {
			c.Once++
		}
	}
	return nil
}

// chosen are the candidates that match the element, at most maxProposals, in order.
func chosen(n *html.Node) []Proposal {
	good := tried(nil, n, candidates(n))
	if len(good) < 3 { // also names that no selector can have
		good = tried(good, n, []Proposal{{CSS: pathTo(n, child), Why: "the place on the page, in numbers: it breaks with " +
			"each change of it"}})
	}
	slices.SortStableFunc(good, func(a, b Proposal) int { return cmp.Compare(a.rank, b.rank) })
	return good
}

// tried are further proposals that match the element, and are not among the good ones.
func tried(good []Proposal, n *html.Node, more []Proposal) []Proposal {
	for _, c := range more {
		s, err := parser.CompileSelector(c.CSS)
		if err != nil || !s.Match(n) || slices.ContainsFunc(good, func(p Proposal) bool { return p.CSS == c.CSS }) {
			continue
		}
		if c.selector = s; len(good) < maxProposals {
			good = append(good, c)
		}
	}
	return good
}

// candidates are selectors that may be proposed, the most wanted first; rank is where they stand among the proposals.
func candidates(n *html.Node) (out []Proposal) {
	add := func(rank int, css, why string, args ...any) {
		if css != "" {
			out = append(out, Proposal{CSS: css, Why: plaintext.Of(fmt.Sprintf(why, args...), 300), rank: rank})
		}
	}
	classes := elements.Tokens(n, "class")
	add(0, pathTo(n, step), "the place on the page: it breaks when the page is built otherwise")
	if name, value := elements.MeantBy(n); name != "" {
		add(7, elements.ByMeaning(name, value), "what the page itself calls it: %s", name)
	}
	add(6, labelled(n), "the label before it")
	if id := elements.Tokens(n, "id"); len(id) > 0 {
		add(6, "#"+elements.CSSName(id[0]), "its id, which should be on a page once")
	}
	if len(classes) > 0 {
		add(4, elements.Tag(n)+"."+elements.CSSName(classes[0]), "tag and class")
	}
	if anchor := anchorOf(n); anchor != "" {
		add(2, anchor+" "+simple(n), "what it lies in, and itself")
	}
	if len(classes) > 1 {
		add(3, elements.Tag(n)+"."+elements.CSSName(classes[0])+"."+elements.CSSName(classes[1]), "tag and two classes")
	}
	if len(classes) > 0 {
		add(5, "."+elements.CSSName(classes[0]), "its class alone")
	}
	if p := n.Parent; p != nil && p.Type == html.ElementNode {
		add(1, simple(p)+" > "+step(n), "its place in what it lies in")
		if elements.Tag(n) != elements.AnyTag {
			add(3, elements.Tag(p)+" > "+elements.Tag(n), "the tags of it and of what it lies in")
		}
	}
	if elements.Tag(n) != elements.AnyTag {
		add(5, elements.Tag(n), "its tag alone")
	}
	return out
}
