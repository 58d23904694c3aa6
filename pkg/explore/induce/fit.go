package induce

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// form is what is made of the text of a match: regex and type of a field.
type form struct {
	regex string
	kind  string
	cost  float64
	why   string
	re    *regexp.Regexp
}

// of is the value of a text, as parser's fields have it; false: it has none.
func (f *form) of(raw string) (string, bool) {
	if f.re != nil {
		m := f.re.FindStringSubmatch(raw)
		if m == nil {
			return "", false
		}
		raw = m[min(1, len(m)-1)]
	}
	v, ok := parser.InType(f.kind, raw)
	if !ok {
		return "", false
	}
	if f.kind == "" {
		return fold(parser.TextOfValue(v)), true
	}
	return parser.TextOfValue(v), true
}

// gives tells whether a value that a form made is the one that is wanted.
func (f *form) gives(got, wanted string) bool {
	return got == wanted || f.kind != "" && inKind(f.kind, wanted) == got
}

// inKind is a wanted value as a value of a type; empty: it is none. A number has nothing around it.
func inKind(kind, wanted string) string {
	if kind == "number" {
		return plainNumber(wanted)
	}
	return typed(kind, wanted)
}

// pair is the text of a match, and the value that is wanted from it.
type pair struct{ raw, wanted string }

// forms are the ways to get the wanted values from the texts, the cheapest first. They were not tried on the pages.
func forms(pairs []pair) (out []form) {
	same, whole := true, true
	for _, p := range pairs {
		same = same && p.raw == p.wanted
		whole = whole && plainNumber(p.wanted) != "" && plainNumber(p.wanted) == p.wanted
	}
	if same {
		return []form{{}}
	}
	much := min(8, max(0, spareOf(pairs)-20)/25) // a value in the middle of much else
	kinds := []form{{kind: "number", cost: 2.6, why: "as a number"}, {kind: "date", cost: 2.6, why: "as a date"}}
	if whole {
		kinds[0].cost = 1.3
	}
	for _, f := range kinds {
		if !slices.ContainsFunc(pairs, func(p pair) bool {
			return typed(f.kind, p.raw) == "" || typed(f.kind, p.raw) != typed(f.kind, p.wanted)
		}) {
			f.cost += much
			out = append(out, f)
		}
	}
	if slices.ContainsFunc(pairs, func(p pair) bool { return within(p.raw, p.wanted) < 0 }) {
		return out
	}
	for _, f := range patterns(pairs) {
		f.cost += much
		re, err := regexp.Compile(f.regex)
		if err != nil {
			continue
		}
		f.re = re
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b form) int { return cmp.Compare(a.cost, b.cost) })
	return out
}

// spareOf is how much longer the texts are than the wanted values, in bytes, on average.
func spareOf(pairs []pair) (spare float64) {
	for _, p := range pairs {
		spare += float64(len(p.raw)-len(p.wanted)) / float64(len(pairs))
	}
	return spare
}

// patterns are regular expressions for the wanted parts, by what stands around them in all texts.
func patterns(pairs []pair) (out []form) {
	before, behind, starts, ends := surroundings(pairs)
	group, exact := kindOf(pairs)
	add := func(regex string, cost float64, why string) {
		out = append(out, form{regex: regex, cost: cost, why: why})
	}
	left, right := leftContext(before), rightContext(behind)
	switch {
	case starts:
		left = "^"
	case left != "":
		left = spaced(left)
	}
	switch {
	case ends:
		right = "$"
	case right != "":
		right = spaced(right)
	}
	if exact && left != "^" && left != "" {
		add(left+group, 1.6, "what stands behind “"+strings.TrimSpace(leftContext(before))+"”")
	}
	if exact && right != "" && right != "$" {
		add(group+right, 1.6, "what stands before “"+strings.TrimSpace(rightContext(behind))+"”")
	}
	if left != "" && right != "" {
		add(left+group+right, 1.7, "a part of the text")
	}
	if exact {
		add(group, 2.0, "the first part of that kind")
	}
	return out
}

// spaced quotes a text, with any white space where it has some.
func spaced(s string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(s), " ", `\s+`)
}

// surroundings are what is before and behind the values in all texts, and whether that is nothing at all.
func surroundings(pairs []pair) (before, behind string, starts, ends bool) {
	starts, ends = true, true
	for i, p := range pairs {
		at := bestOf(p, before, behind, i == 0)
		l, r := p.raw[:at], p.raw[at+len(p.wanted):]
		starts, ends = starts && l == "", ends && r == ""
		if i == 0 {
			before, behind = l, r
			continue
		}
		before, behind = commonSuffix(before, l), commonPrefix(behind, r)
	}
	return before, behind, starts, ends
}

// bestOf is the offset of the value in its text where what stands around it is most like that of the others.
func bestOf(p pair, before, behind string, first bool) int {
	best, like := within(p.raw, p.wanted), -1
	for from := 0; from <= len(p.raw)-len(p.wanted); {
		at := within(p.raw[from:], p.wanted)
		if at < 0 || first {
			break
		}
		at += from
		if n := len(commonSuffix(before, p.raw[:at])) + len(commonPrefix(behind, p.raw[at+len(p.wanted):])); n > like {
			best, like = at, n
		}
		_, size := utf8.DecodeRuneInString(p.raw[at:])
		from = at + size
	}
	return best
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

func commonSuffix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return a[len(a)-n:]
}

// maxContext bounds what a pattern has around the value, in bytes.
const maxContext = 24

// leftContext is the end of what is before all values: whole words, without figures.
func leftContext(s string) string {
	from := len(s)
	for from > 0 && len(s)-from < maxContext {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		if unicode.IsDigit(r) {
			break
		}
		from -= size
	}
	for from > 0 && from < len(s) && !apart(s, from) {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	if strings.TrimSpace(s[from:]) == "" {
		return ""
	}
	return strings.TrimLeft(s[from:], " ")
}

// rightContext is the beginning of what is behind all values: its first word or mark.
func rightContext(s string) string {
	kind := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 0
		case unicode.IsLetter(r):
			return 1
		case unicode.IsDigit(r):
			return 2
		}
		return 3
	}
	first := 0
	for i, r := range s {
		k := kind(r)
		if first != 0 && k != first || k == 2 || i > maxContext {
			return strings.TrimRight(s[:i], " ")
		}
		first = k
	}
	return strings.TrimRight(s, " ")
}

var shapes = []struct {
	whole *regexp.Regexp
	group string
}{
	{regexp.MustCompile(`^[0-9]+$`), `([0-9]+)`},
	{regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`), `([0-9]{4}-[0-9]{2}-[0-9]{2})`},
	{regexp.MustCompile(`^[0-9][0-9.,]*[0-9]$|^[0-9]$`), `([0-9][0-9.,]*[0-9]|[0-9])`},
	{regexp.MustCompile(`^[A-Za-z]+-?[0-9][0-9-]*$`), `([A-Za-z]+-?[0-9][0-9-]*)`},
}

// kindOf is a group for the wanted parts; exact says that it ends where they do.
func kindOf(pairs []pair) (group string, exact bool) {
	for _, s := range shapes {
		if !slices.ContainsFunc(pairs, func(p pair) bool { return !s.whole.MatchString(p.wanted) }) {
			return s.group, true
		}
	}
	return `(.+?)`, false
}
