package ruletest

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// mark is the attribute by which an element in the marked copy of a page tells where its tag stands.
const mark = "data-whirlpool-at"

// place is where an element is in the source: from its tag to the end of its end tag.
type place struct{ start, end int }

// places finds the places of the elements of a tree in its source. The parser of HTML tells none. So it reads a
// copy, too, in which each tag has its offset as an attribute, and both trees are walked side by side.
func places(doc []byte, tree *html.Node) (map[*html.Node]place, error) {
	marked, ends := markTags(doc)
	twin, err := html.Parse(bytes.NewReader(marked))
	if err != nil {
		return nil, err
	}
	out := map[*html.Node]place{}
	pair(tree, twin, func(n, m *html.Node) {
		for _, a := range m.Attr {
			if start, err := strconv.Atoi(a.Val); a.Key == mark && err == nil {
				out[n] = place{start, ends[start]}
				return
			}
		}
	})
	return out, nil
}

// pair walks two trees side by side, as far as they are alike.
func pair(a, b *html.Node, use func(a, b *html.Node)) {
	type both struct{ a, b *html.Node }
	for list := []both{{a, b}}; len(list) > 0; {
		p := list[len(list)-1]
		list = list[:len(list)-1]
		if p.a.Type != p.b.Type || p.a.Data != p.b.Data && p.a.Type == html.ElementNode {
			continue
		}
		if p.a.Type == html.ElementNode {
			use(p.a, p.b)
		}
		for x, y := p.a.FirstChild, p.b.FirstChild; x != nil && y != nil; x, y = x.NextSibling, y.NextSibling {
			list = append(list, both{x, y})
		}
	}
}

// markTags gives each start tag its offset, and finds the end of each element by its start.
func markTags(doc []byte) (marked []byte, ends map[int]int) {
	z := html.NewTokenizer(bytes.NewReader(doc))
	b := &marker{ends: map[int]int{}, out: make([]byte, 0, len(doc)+len(doc)/4)}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			b.out = append(b.out, doc[min(b.at, len(doc)):]...)
			b.close(0, len(doc))
			return b.out, b.ends
		}
		raw := z.Raw()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			b.start(raw, string(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(raw, string(name))
		default:
			b.out = append(b.out, raw...)
		}
		b.at += len(raw)
	}
}

type marker struct {
	out  []byte
	at   int // of the token in the source
	open []openTag
	ends map[int]int
}

type openTag struct {
	name  string
	start int
}

// voids are the elements without an end tag.
var voids = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true,
	"input": true, "link": true, "meta": true, "param": true, "source": true, "track": true, "wbr": true}

func (b *marker) start(raw []byte, name string) {
	cut := 1 + len(name)
	if cut > len(raw) {
		cut = len(raw)
	}
	b.out = append(b.out, raw[:cut]...)
	b.out = append(b.out, " "+mark+`="`+strconv.Itoa(b.at)+`" `...)
	b.out = append(b.out, raw[cut:]...)
	b.ends[b.at] = b.at + len(raw)
	if !voids[name] {
		b.open = append(b.open, openTag{name, b.at})
	}
}

// maxOpen is how far back an end tag is looked for.
const maxOpen = 512

func (b *marker) end(raw []byte, name string) {
	b.out = append(b.out, raw...)
	for i := len(b.open) - 1; i >= max(0, len(b.open)-maxOpen); i-- {
		if b.open[i].name == name {
			b.close(i+1, b.at)
			b.ends[b.open[i].start] = b.at + len(raw)
			b.open = b.open[:i]
			return
		}
	}
}

// close ends the elements from the i-th open one on, whose end tags are missing.
func (b *marker) close(i, at int) {
	for _, o := range b.open[i:] {
		b.ends[o.start] = at
	}
	b.open = b.open[:i]
}

// lines finds lines and columns.
type lines struct {
	doc    []byte
	starts []int
}

func linesOf(doc []byte) *lines {
	l := &lines{doc: doc, starts: []int{0}}
	for i, c := range doc {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// at is the line and the column of an offset.
func (l *lines) at(off int) (line, column int) {
	low, high := 0, len(l.starts)
	for high-low > 1 {
		if mid := (low + high) / 2; l.starts[mid] <= off {
			low = mid
		} else {
			high = mid
		}
	}
	return low + 1, utf8.RuneCount(l.doc[l.starts[low]:off]) + 1
}

// ErrDepth is what Run returns of a page whose elements lie too deep in each other: the crawl finds nothing in it, too.
var ErrDepth = errors.New("more than 512 elements lie in each other: rules find nothing in such a page")
