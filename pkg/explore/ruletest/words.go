package ruletest

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// looks are classes that say how an element looks, as kits such as Tailwind and Bootstrap have them: another element of
// the page looks alike, and another design of the site changes them. Words such as text-body or order-number are none.
var looks = regexp.MustCompile(`^-?(?:[mp][trblxyse]?|(?:min-|max-)?[wh]|size|text|font|f[ws]|lh|leading|tracking|bg|border(?:-[trblxy])?|` +
	`rounded(?:-[trbl]{1,2})?|shadow|flex|grid(?:-cols|-rows)?|gap(?:-[xy])?|space-[xy]|items|justify|self|content|place|order|` +
	`(?:col|row)(?:-span|-xs|-sm|-md|-lg|-xl|-xxl)?|z|top|left|right|bottom|inset(?:-[xy])?|opacity|overflow(?:-[xy])?|object|cursor|` +
	`duration|ease|d|align(?:-items)?|float|position|g[xy]?|offset|ring|divide-[xy]|line-clamp|whitespace|list|aspect)-(?:` +
	`[0-9]+(?:\.[0-9]+)?|px|[0-9]?x[sl]|xxl|sm|md|lg|base|full|auto|screen|none|inherit|start|end|center|left|right|top|bottom|middle|` +
	`between|around|evenly|stretch|baseline|wrap|nowrap|bold|bolder|semibold|medium|light|normal|thin|black|white|transparent|hidden|` +
	`scroll|visible|cover|contain|muted|primary|secondary|success|danger|warning|info|dark|pointer|flex|block|inline(?:-block)?|grid|` +
	`disc|inside|row|col|column|uppercase|relative|absolute|fixed|video|square|[a-z]+-[0-9]{2,3})$`)

// passing are classes of the moment, or of one of several alike: the same element has them now and not then.
var passing = regexp.MustCompile(`^(?:(?:is|has|js|no)-.*|active|selected|current|open|opened|closed|collapsed?|expanded|visible|show|shown|hide|` +
	`disabled|enabled|hover|focus|load(?:ed|ing)|lazy(?:load(?:ed|ing)?)?|odd|even|first|last|alt|alternate|` +
	`flex|grid|block|inline(?:-block|-flex)?|hidden|relative|absolute|fixed|sticky|static|container(?:-fluid)?|row|col|truncate|uppercase|` +
	`lowercase|capitalize|italic|underline|antialiased|rounded|border|shadow|transition|clearfix|clear|group|sr-only|wrapper|wrap|inner|outer)$`)

// lasting tells whether a class may stay with what an element is.
func lasting(class string) bool {
	return !strings.ContainsAny(class, ":/[]()!@%") && !looks.MatchString(class) && !passing.MatchString(class)
}

// maxLabel bounds the text of a label.
const maxLabel = 40

// labelOf is the element before another that says what it is, such as the head of a row with two cells, and its text;
// nil: there is none. Of elements that are all alike, only those without a name of their own are asked for so.
func labelOf(n *html.Node) (label *html.Node, text string) {
	l := n.PrevSibling
	for l != nil && l.Type != html.ElementNode {
		l = l.PrevSibling
	}
	if l == nil || !labels(l, n) || l.FirstChild == nil || l.FirstChild.Type != html.TextNode || l.FirstChild.NextSibling != nil {
		return nil, ""
	}
	text = strings.TrimSpace(l.FirstChild.Data)
	if text == "" || len(text) > maxLabel || !utf8.ValidString(text) || strings.ContainsAny(text, "0123456789\n") {
		return nil, ""
	}
	return l, text
}

// labelled is a selector for an element by the label before it; empty: there is none.
func labelled(n *html.Node) string {
	l, text := labelOf(n)
	if l == nil {
		return ""
	}
	return tagOf(l) + ":containsOwn(" + cssString(text) + ") + " + tagOf(n)
}

// labels tells whether one element may be the label of the next one.
func labels(l, n *html.Node) bool {
	switch l.Data {
	case "th":
		return n.Data == "td"
	case "dt":
		return n.Data == "dd"
	case "label", "strong", "b":
		return true
	case "div", "span":
		return n.Data == l.Data && len(tokensOf(n, "class")) == 0 && !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "id" })
	}
	return false
}
