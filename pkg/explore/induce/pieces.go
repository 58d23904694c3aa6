package induce

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
)

// What a selector goes by costs the more the sooner it breaks. The figures are ours: they order what is likely to last,
// as a person who writes selectors would, and were tuned on templates.Practice alone.
const (
	costMeaning   = 1.0 // itemprop=price: the page says what it is
	costID        = 1.4
	costClass     = 2.0 // of a name that people gave
	costStem      = 2.3 // Product_price__ of Product_price__a8FqZ
	costLabel     = 2.2 // the element behind "Price"
	costTag       = 2.6 // h1, time, address: there are few of them
	costList      = 4.0 // li, td, a
	costPlain     = 4.2 // div, span, p
	costNumber    = 2.4 // more, for the third of its like
	costLooks     = 6.5 // classes of a kit: text-lg
	costHash      = 9.0 // a name that a program made
	costStep      = 0.6 // more, for each further element
	costAround    = 0.55
	costBare      = 2.0 // more, for a tag of which there are many and nothing around it
	costSeveral   = 2.5 // more, where the first of several is taken
	costUnwanted  = 1.5 // more, where it takes something from an example that was given no value
	costMissing   = 8.0 // more, the more further pages it takes nothing from, and others do
	costDisagrees = 6.0 // more, the less the others agree on further pages
)

// piece is a part of a selector for one element.
type piece struct {
	css  string
	cost float64
	why  string
}

var (
	fewTags = []string{"h1", "title", "h2", "time", "address", "caption", "blockquote", "figcaption", "article", "main",
		"nav", "header", "footer", "aside"}
	plainTags = []string{"div", "span", "p", "b", "i", "font"}
)

// byTag is an element by its tag alone.
func byTag(n *html.Node) piece {
	cost := costList
	switch tag := elements.Tag(n); {
	case n.Data == "html" || n.Data == "body" || n.Data == "head":
		cost = costHash // all of the page
	case slices.Contains(fewTags, tag):
		cost = costTag
	case slices.Contains(plainTags, tag), tag == elements.AnyTag:
		cost = costPlain
	}
	return piece{elements.Tag(n), cost, "its tag"}
}

// maxNames is how many classes of an element are tried.
const maxNames = 4

// named are the selectors of an element by its names, without its tag alone.
func named(n *html.Node) (out []piece) {
	tag := elements.Tag(n)
	for _, name := range elements.Meaning {
		if v := elements.Attr(n, name); v != "" && len(v) <= elements.MaxToken && !elements.Hashed(v) {
			out = append(out, piece{elements.ByMeaning(name, v), costMeaning + .1*float64(len(out)),
				"what the page calls it: " + name + "=" + v})
		}
	}
	if id := strings.TrimSpace(elements.Attr(n, "id")); id != "" && !strings.ContainsAny(id, " \t\n0123456789") &&
		!elements.Hashed(id) && len(id) <= elements.MaxToken {
		out = append(out, piece{"#" + elements.CSSName(id), costID, "its id"})
	}
	var lasting, others []string
	for _, w := range strings.Fields(elements.Attr(n, "class")) {
		switch stem := stemOf(w); {
		case len(w) > elements.MaxToken:
		case stem != "":
			out = append(out, piece{fmt.Sprintf("%s[class*=%s]", tag, elements.CSSString(stem)), costStem,
				"the part of its class that lasts: " + stem})
		case elements.Hashed(w) || !elements.Lasting(w):
			others = append(others, w)
		default:
			lasting = append(lasting, w)
		}
	}
	for _, w := range lasting[:min(len(lasting), maxNames)] {
		out = append(out, piece{tag + "." + elements.CSSName(w), costClass, "its class: " + w},
			piece{"." + elements.CSSName(w), costClass + .1, "its class: " + w})
	}
	if len(lasting) > 1 {
		out = append(out, piece{tag + "." + elements.CSSName(lasting[0]) + "." + elements.CSSName(lasting[1]), costClass + .5,
			"its classes"})
	}
	return append(out, looks(tag, others)...)
}

// looks are selectors by classes that do not last: all of them, and each that a program made.
func looks(tag string, classes []string) (out []piece) {
	all := tag
	for _, w := range classes[:min(len(classes), 6)] {
		all += "." + elements.CSSName(w)
		if elements.Hashed(w) {
			out = append(out, piece{tag + "." + elements.CSSName(w), costHash, "a class that a program named: " + w})
		} else {
			out = append(out, piece{tag + "." + elements.CSSName(w), costLooks + .6, "how it looks: " + w})
		}
	}
	switch {
	case len(classes) > 1 && slices.ContainsFunc(classes, elements.Hashed):
		out = append(out, piece{all, costHash - .1, "classes that a program named"})
	case len(classes) > 1:
		out = append(out, piece{all, costLooks, "how it looks"})
	}
	return out
}

// stemOf is the part of a class as CSS modules name them that people gave, with the bar behind it; empty: it is none.
func stemOf(class string) string {
	i := strings.LastIndex(class, "__")
	if i < 3 || len(class)-i-2 < 4 || len(class)-i-2 > 12 || strings.ContainsAny(class[i+2:], "-") {
		return ""
	}
	if code := class[i+2:]; strings.ToLower(code) == code && !strings.ContainsAny(code, "0123456789") {
		return "" // block__element, as people write it
	}
	return class[:i+2]
}

// numbered is an element by its tag and its number among its like; false: there is no other.
func numbered(n *html.Node) (piece, bool) {
	if elements.Tag(n) == elements.AnyTag || n.Parent == nil {
		return piece{}, false
	}
	at, of := elements.NumberOf(n, func(s *html.Node) bool { return s.Data == n.Data })
	if of < 2 {
		return piece{}, false
	}
	p := byTag(n)
	if at == of && at > 1 {
		return piece{p.css + ":last-of-type", p.cost + costNumber, "the last of its like"}, true
	}
	return piece{fmt.Sprintf("%s:nth-of-type(%d)", p.css, at), p.cost + costNumber,
		fmt.Sprintf("number %d of its like", at)}, true
}

// own are the selectors of an element by itself. attr is where the value stands.
func own(n *html.Node, attr string) []piece {
	out := append(named(n), byTag(n))
	if attr != "" && strings.HasPrefix(attr, "data-") && !elements.Hashed(attr) {
		out = append(out, piece{"[" + elements.CSSName(attr) + "]", costClass, "it has the attribute " + attr})
	}
	if kind := elements.Attr(n, "type"); n.Data == "script" && kind != "" {
		out = append(out, piece{"script[type=" + elements.CSSString(kind) + "]", costTag, "data of the page: " + kind})
	}
	if p, ok := numbered(n); ok {
		out = append(out, p)
	}
	return out
}
