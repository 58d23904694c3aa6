package induce

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// tree is a parsed page, ready to be searched again and again.
type tree struct {
	page  *Page
	root  *html.Node
	nodes []*html.Node // elements, in the order of the page
	tags  map[string][]*html.Node
	at    map[*html.Node]int    // in nodes
	solid []int                 // characters of the text within each, without white space
	texts map[*html.Node]string // folded
	found map[string][]spot     // places of values that were looked for
	data  []*html.Node          // scripts that hold data
}

// maxData is how many scripts of data are looked at.
const maxData = 20

// parse reads a page.
func parse(p *Page) (*tree, error) {
	if len(p.Body) > MaxPage {
		return nil, invalid("%s is longer than %d MiB", p.Name, MaxPage>>20)
	}
	root, err := html.Parse(bytes.NewReader(p.Body))
	if err != nil {
		return nil, invalid("%s: %v", p.Name, err) // elements too deep in each other
	}
	t := &tree{page: p, root: root, tags: map[string][]*html.Node{}, at: map[*html.Node]int{},
		texts: map[*html.Node]string{}, found: map[string][]spot{}}
	own := map[*html.Node]int{}
	for n := range root.Descendants() {
		switch {
		case n.Type == html.ElementNode && len(t.nodes) < maxElements:
			t.at[n] = len(t.nodes)
			t.nodes = append(t.nodes, n)
			t.tags[n.Data] = append(t.tags[n.Data], n)
			if parser.IsData(n) && len(t.data) < maxData {
				t.data = append(t.data, n)
			}
		case n.Type == html.TextNode && n.Parent != nil && !silent[n.Parent.Data]:
			own[n.Parent] += solidOf(n.Data)
		}
	}
	t.solid = make([]int, len(t.nodes))
	for i, n := range slices.Backward(t.nodes) {
		t.solid[i] += own[n]
		if up, known := t.at[n.Parent]; known {
			t.solid[up] += t.solid[i]
		}
	}
	return t, nil
}

// silent are elements whose text is none of the page's.
var silent = map[string]bool{"script": true, "style": true, "template": true, "noscript": true}

// text is the text of an element as a field takes it, folded.
func (t *tree) text(n *html.Node) string {
	s, known := t.texts[n]
	if !known {
		s = fold(parser.TextOf(n))
		t.texts[n] = s
	}
	return s
}

// solidOf is how many characters of a text are no white space.
func solidOf(s string) (n int) {
	for _, r := range s {
		if !unicode.IsSpace(r) && !unseen(r) {
			n++
		}
	}
	return n
}

// unseen are characters that texts are compared without: soft hyphens, and marks that have no width.
func unseen(r rune) bool {
	return r == '\u00ad' || r >= '\u200b' && r <= '\u200f' || r == '\u2060' || r == '\ufeff'
}

// fold brings a text into the form in which texts are compared: composed, white space folded, without what is not seen.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD")))
	return strings.Join(strings.Fields(s), " ")
}
