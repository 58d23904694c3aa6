package induce

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// Bounds of what is looked at around an element.
const (
	maxUp     = 6
	maxLabel  = 40
	maxLabels = 3
)

// candidate is a selector that may be a field's.
type candidate struct {
	css, attr string
	tag       string // of all elements that it matches; empty: any
	cost      float64
	why       string
	selector  parser.Selector
}

// candidates are selectors of a place, each with the attribute that has the value.
func candidates(s spot) (out []candidate) {
	add := func(prefix string, p piece, more float64, why string) {
		tag := ""
		if !strings.ContainsAny(p.css[:min(1, len(p.css))], ".#[") && elements.Tag(s.node) != elements.AnyTag {
			tag = s.node.Data
		}
		if why != "" {
			why = ", " + why
		}
		out = append(out, candidate{css: prefix + p.css, attr: s.attr, tag: tag, cost: p.cost + more, why: p.why + why})
	}
	for _, p := range own(s.node, s.attr) {
		add("", p, bare(s.node, p), "")
		for _, a := range around(s.node) {
			add(a.css+" ", p, a.cost, a.why)
		}
	}
	self := append(named(s.node), byTag(s.node))
	for _, path := range paths(s.node) {
		for _, p := range self {
			add(path.css, p, path.cost, path.why)
		}
		if p, ok := numbered(s.node); ok {
			add(path.css, p, path.cost, path.why)
		}
	}
	for _, l := range labelsOf(s.node) {
		for _, p := range self {
			if p.cost < costLooks || p.css == elements.Tag(s.node) {
				add(l.css, piece{p.css, min(p.cost, costList) / 4, p.why}, l.cost, l.why)
			}
		}
	}
	var words []piece
	if text := fold(parser.TextOf(s.node)); s.part && s.attr == "" {
		words = wording(s.node)
	} else if s.attr != "" && isLabel(text) {
		css := says(elements.Tag(s.node), text, textItself(s.node) == text)
		words = []piece{{css, costLabel, fmt.Sprintf("it says %q", text)}}
	}
	for _, p := range words {
		add("", p, 0, "")
	}
	return out
}

// bare is what a selector costs more that is nothing but a tag of which there are many, with or without a number.
func bare(n *html.Node, p piece) float64 {
	tag := elements.Tag(n)
	if byTag(n).cost > costTag && (p.css == tag || strings.HasPrefix(p.css, tag+":")) {
		return costBare
	}
	return 0
}

// around are the elements that another lies in, as far as they have names or are few.
func around(n *html.Node) (out []piece) {
	up := 0
	for a := n.Parent; a != nil && a.Type == html.ElementNode && up < maxUp; a = a.Parent {
		up++
		all := named(a)
		if t := byTag(a); t.cost < costPlain && a.Data != "html" && a.Data != "body" {
			all = append(all, t)
		}
		for _, p := range all[:min(len(all), 3)] {
			out = append(out, piece{p.css, p.cost*costAround + .3 + .05*float64(up), "within " + p.css})
		}
	}
	return out
}

// paths are the ways down to an element from one around it, step by step; the last step is missing.
func paths(n *html.Node) (out []piece) {
	steps, plain, cost, down := "", "", 0.0, 0.0
	for up, a := 1, n.Parent; a != nil && a.Type == html.ElementNode && up <= maxUp; up, a = up+1, a.Parent {
		anchors := named(a)
		anchors = append(anchors[:min(len(anchors), 2)], byTag(a))
		for i, p := range anchors {
			more := p.cost*costAround + costStep*float64(up)
			if i == len(anchors)-1 && p.cost >= costPlain {
				more += .8
			}
			out = append(out, piece{p.css + " > " + plain, more + down, "step by step from " + p.css})
			if steps != plain {
				out = append(out, piece{p.css + " > " + steps, more + cost, "step by step from " + p.css})
			}
		}
		step := byTag(a)
		plain = step.css + " > " + plain
		down += .2
		if num, ok := numbered(a); ok {
			step = num
			cost += costNumber
		}
		steps = step.css + " > " + steps
		cost += .2
		if a.Data == "body" {
			break
		}
	}
	return out
}

// labelsOf are the labels before an element, each as the beginning of a selector, up to where the element lies in what
// the label is before.
func labelsOf(n *html.Node) (out []piece) {
	out = append(out, sentence(n)...)
	for up, v := 0, n; v != nil && v.Type == html.ElementNode && up < 5 && len(out) < 3*maxLabels; up, v = up+1, v.Parent {
		l := before(v)
		if l != nil {
			for _, p := range labelSelectors(l) {
				where := piece{p.css + " + ", p.cost + .5*float64(up), p.why}
				if v != n {
					where.css += elements.Tag(v) + " "
				}
				out = append(out, where)
			}
		}
	}
	return out
}

// before is the element before another.
func before(n *html.Node) *html.Node {
	l := n.PrevSibling
	for l != nil && l.Type != html.ElementNode {
		l = l.PrevSibling
	}
	return l
}

// labelSelectors are the selectors of an element by its text, if that may be a label.
func labelSelectors(l *html.Node) (out []piece) {
	text := fold(parser.TextOf(l))
	if !isLabel(text) || noLabel[l.Data] {
		return nil
	}
	tag, suffix := elements.Tag(l), ""
	if textItself(l) == text {
		suffix = "Own"
	}
	why, cost := fmt.Sprintf("behind the label %q", text), costLabel
	if !strings.HasSuffix(text, ":") && slices.Contains(plainTags, tag) { // it may be a part of what is said
		cost++
	}
	bare := strings.TrimRight(text, ": ")
	if pattern, ok := exactly(bare); ok && bare != "" {
		out = append(out, piece{tag + ":matches" + suffix + "(" + pattern + ")", cost, why})
	}
	return append(out, piece{says(tag, text, suffix != ""), cost + .6, why})
}

// noLabel are elements that hold parts of a page.
var noLabel = map[string]bool{"script": true, "style": true, "template": true, "noscript": true, "header": true,
	"nav": true, "footer": true, "aside": true, "main": true, "ul": true, "ol": true, "table": true, "form": true,
	"title": true, "head": true, "tr": true, "dl": true}

// textItself is the text of an element without that of the elements within.
func textItself(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return fold(b.String())
}

// isLabel tells whether a text may be a label: short, of words, without figures.
func isLabel(text string) bool {
	return text != "" && len(text) <= maxLabel && len(strings.Fields(text)) <= 5 &&
		!strings.ContainsAny(text, "0123456789\n") && strings.ContainsFunc(text, unicode.IsLetter)
}

// exactly is a pattern for a text and nothing else, with or without a colon; false: the text has what patterns in
// selectors cannot have.
func exactly(text string) (string, bool) {
	p, ok := quoted(text)
	return `^\s*` + p + `\s*:?\s*$`, ok
}

// quoted is a pattern for a text, with any white space where it has some.
func quoted(text string) (string, bool) {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(",-/&%'#", r):
			b.WriteRune(r)
		case r == ' ':
			b.WriteString(`\s+`)
		case r == '.', r == '?', r == '+', r == '*':
			b.WriteString(`\` + string(r))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// wording are selectors of an element by the words in it that are no figures: "Reference" of "Reference H-17".
func wording(n *html.Node) (out []piece) {
	text := fold(parser.TextOf(n))
	if len(text) > 300 {
		return nil
	}
	itself := textItself(n)
	for _, w := range phrases(text, 3) {
		words := strings.Fields(w)
		for _, part := range []string{strings.Join(words[:min(2, len(words))], " "),
			strings.Join(words[max(0, len(words)-2):], " "), words[0], words[len(words)-1]} {
			if len(part) < 3 {
				continue
			}
			isOwn := strings.Contains(itself, part)
			cost := costLabel + 1.2
			if isOwn {
				cost -= .6
			}
			out = append(out, piece{says(elements.Tag(n), part, isOwn), cost, fmt.Sprintf("it says %q", part)})
		}
	}
	return out
}

// phrases are the first runs of words in a text, between figures and marks.
func phrases(text string, most int) (out []string) {
	for _, w := range strings.FieldsFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '-' && r != '&' }) {
		if w = strings.Trim(w, " -&"); len(w) >= 3 && len(out) < most {
			out = append(out, w)
		}
	}
	return out
}

// says is an element that says something. Within a text of several words any white space may stand, so that it is a
// pattern, where it can be one.
func says(tag, text string, isOwn bool) string {
	how, whole := "contains", "matches"
	if isOwn {
		how, whole = "containsOwn", "matchesOwn"
	}
	if p, ok := quoted(text); ok && strings.Contains(text, " ") {
		return tag + ":" + whole + "(" + p + ")"
	}
	return tag + ":" + how + "(" + elements.CSSString(text) + ")"
}

// sentence are the selectors of an element by the text that is before it in what it lies in.
func sentence(v *html.Node) []piece {
	l, up := v.PrevSibling, v.Parent
	for l != nil && (l.Type == html.CommentNode || l.Type == html.TextNode && strings.TrimSpace(l.Data) == "") {
		l = l.PrevSibling
	}
	if l == nil || l.Type != html.TextNode || up == nil || up.Type != html.ElementNode || len(l.Data) > 400 {
		return nil
	}
	all := phrases(fold(l.Data), 20)
	if len(all) == 0 {
		return nil
	}
	words := strings.Fields(all[len(all)-1])
	text := strings.Join(words[max(0, len(words)-3):], " ")
	return []piece{{says(elements.Tag(up), text, true) + " > ", costLabel + .2, fmt.Sprintf("behind the words %q", text)}}
}
