package ruletest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

const offer = `<!doctype html><html><head><meta property="og:title" content="Röd lamp"><script>var a = "<b>"</script></head><body>
<div id="main"><article class="product css-1x2y3z"><h1>Lamp</h1><p>First</p><p>Second <em>word</em></p>
<span class="price big" itemprop="price">12,50</span><img src="/lamp.png" alt="A lamp"></article>
<article class="product"><h1>Chair</h1><p>Other</p><span class="price" itemprop="price">40</span></article></div></body></html>`

func goOn() error { return nil }

// Counting ends when its caller is gone.
func TestCountingStops(t *testing.T) {
	gone := errors.New("gone")
	long := []byte(strings.Repeat("<i>x</i>", 5000))
	if _, err := Propose(long, 100, func() error { return gone }); !errors.Is(err, gone) {
		t.Errorf("it went on: %v", err)
	}
	p, err := Propose([]byte("<i>x"), 3, goOn)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Count(long, func() error { return gone }); !errors.Is(err, gone) {
		t.Errorf("a sample went on: %v", err)
	}
}

// indexOf finds an element of a page by a selector.
func indexOf(t *testing.T, page, css string) int {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parser.CompileSelector(css)
	if err != nil {
		t.Fatal(err)
	}
	found := -1
	each(tree, func(i, _ int, n *html.Node) bool {
		if s.Match(n) {
			found = i
		}
		return found < 0
	})
	if found < 0 {
		t.Fatalf("nothing matches %s", css)
	}
	return found
}

func TestProposals(t *testing.T) {
	for _, tt := range []struct {
		at, name, attr string
		value          any
		want           []string // with the number of matches
	}{
		{".big", "price", "", "12,50", []string{"html > body > div > article:nth-of-type(1) > span 1",
			"article.product span.price 2", "span.price.big 1", "span.price 2", `[itemprop="price"] 2`}},
		{"em", "em", "", "word", []string{"html > body > div > article:nth-of-type(1) > p:nth-of-type(2) > em 1",
			"p:nth-of-type(2) > em 1", "article.product em 1", "p > em 1", "em 1"}},
		{"meta", "og_title", "content", "Röd lamp",
			[]string{"html > head > meta 1", "head > meta 1", "meta 1", `[property="og:title"] 1`}},
		{"img", "img", "src", "/lamp.png", []string{"html > body > div > article:nth-of-type(1) > img 1",
			"article.product > img 1", "article.product img 1", "article > img 1", "img 1"}},
		{"#main", "main", "", nil, []string{"html > body > div 1", "body > div 1", "div 1", "#main 1"}},
	} {
		got, err := Propose([]byte(offer), indexOf(t, offer, tt.at), goOn)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, p := range got.Proposals {
			list = append(list, fmt.Sprintf("%s %d", p.CSS, p.Here))
			if p.Attr != tt.attr {
				t.Errorf("%s: of %s the attribute %q", tt.at, p.CSS, p.Attr)
			}
		}
		if strings.Join(list, "\n") != strings.Join(tt.want, "\n") || got.Name != tt.name {
			t.Errorf("%s, called %s:\n%s\nwant\n%s", tt.at, got.Name, strings.Join(list, "\n"), strings.Join(tt.want, "\n"))
		}
		if tt.value != nil && got.Proposals[0].Value != tt.value {
			t.Errorf("%s: value %v, want %v", tt.at, got.Proposals[0].Value, tt.value)
		}
	}
	if _, err := Propose([]byte(offer), 1000, goOn); !errors.Is(err, ErrIndex) {
		t.Errorf("an element that is not there: %v", err)
	}
}

func TestProposalsAreCountedOverPages(t *testing.T) {
	p, err := Propose([]byte(offer), indexOf(t, offer, ".big"), goOn)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{offer, `<span itemprop=price class=price>1</span>`, `<p>none`} {
		if err := p.Count([]byte(page), goOn); err != nil {
			t.Fatal(err)
		}
	}
	last := p.Proposals[len(p.Proposals)-1]
	if p.Pages != 3 || last.Matches != 3 || last.OnPages != 2 || last.Once != 1 {
		t.Errorf("of %d pages: %+v", p.Pages, last)
	}
	first := p.Proposals[0]
	if first.Matches != 1 || first.OnPages != 1 || first.Once != 1 {
		t.Errorf("the most specific one: %+v", first)
	}
}

func TestOutline(t *testing.T) {
	o, err := OutlineOf([]byte(offer))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, n := range o.Nodes {
		lines = append(lines, fmt.Sprintf("%s%d %s#%s.%s %s|%s", strings.Repeat(" ", n.Depth), n.Index, n.Tag, n.ID, n.Class,
			n.Note, n.Text))
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"0 html#. |", "  2 meta#. property=og:title content=Röd lamp|",
		"   6 article#.product css-1x2y3z |", "    9 p#. |Second\n", "     10 em#. |word",
		"    11 span#.price big itemprop=price|12,50", "src=/lamp.png alt=A lamp|"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "var a") || strings.Contains(text, "script") {
		t.Errorf("a script is told:\n%s", text)
	}
	many, err := OutlineOf([]byte(strings.Repeat("<i></i>", maxOutline+10)))
	if err != nil || !many.Cut || len(many.Nodes) != maxOutline {
		t.Errorf("%d of many nodes, %v", len(many.Nodes), err)
	}
}

// odd pages: names that no selector has, capitals in SVG, quotes in attributes, nested tables, templates.
var oddPages = []string{
	offer, page,
	"<a:b><x-y class='1a \"q\" .dot #h'><o:p id='-'>x</o:p></x-y></a:b>",
	"<svg><linearGradient id=G><stop " +
		"itemprop='a\"b\\c\n'></stop></linearGradient><foreignObject><p>in</p></foreignObject></svg>",
	"<table><b>moved<tr><td><table><td class=\u202e>x</table>",
	"<template><p class=x>in</p></template><select><option>1<option>2</select><math><mi xlink:href=x>y</mi></math>",
	"<div class='\u00e4\u00f6 a\x00b' name='\xff'><p class='-- -1 --x'>", "<frameset><frame name=a>", "",
	"<!-- --><html id=r><body itemprop=b>", strings.Repeat("<div class=d>", 300) + "x",
}

func TestNoProposalMissesItsElement(t *testing.T) {
	for _, page := range oddPages {
		for index := range 40 {
			checkProposals(t, []byte(page), index)
		}
	}
}

// checkProposals proposes for an element, and finds it by each proposal, compiled anew.
func checkProposals(t *testing.T, page []byte, index int) {
	t.Helper()
	p, err := Propose(page, index, goOn)
	if err != nil {
		return
	}
	tree, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var node *html.Node
	depth, total := 0, 0
	each(tree, func(i, d int, n *html.Node) bool {
		if total++; i == index {
			node, depth = n, d
		}
		return true
	})
	if n := len(p.Proposals); n == 0 || n > maxProposals || depth > 1 && n < 3 {
		t.Errorf("%d proposals for <%s> at depth %d of %.80q", n, node.Data, depth, page)
	}
	for _, c := range p.Proposals {
		s, err := parser.CompileSelector(c.CSS)
		if err != nil || !s.Match(node) || c.Here < 1 || c.Here > total || !utf8.ValidString(c.CSS) {
			t.Errorf("%q does not match <%s> %v of %.80q: %v; %d matches", c.CSS, node.Data, node.Attr, page, err, c.Here)
		}
	}
}

// A selector that is none of the element's must be noticed.
func TestNegativeControlProposals(t *testing.T) {
	good := candidates(&html.Node{Type: html.ElementNode, Data: "p"})
	other := &html.Node{Type: html.ElementNode, Data: "q"}
	if len(tried(nil, other, good)) != 0 {
		t.Error("a selector of another element is proposed")
	}
}

func FuzzProposals(f *testing.F) {
	for _, page := range oddPages {
		f.Add([]byte(page), 5)
	}
	f.Fuzz(func(t *testing.T, page []byte, index int) {
		if len(page) > 20_000 {
			return
		}
		checkProposals(t, page, index%200)
		if o, err := OutlineOf(page); err == nil {
			last := -1
			for _, n := range o.Nodes {
				if n.Index <= last || n.Depth < 0 || !utf8.ValidString(n.Text+n.Class+n.Note+n.ID+n.Tag) {
					t.Errorf("%+v after %d", n, last)
				}
				last = n.Index
			}
		}
	})
}
