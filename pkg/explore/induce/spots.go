package induce

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// spot is a place of a page that has a value: the text of an element, or one of its attributes.
type spot struct {
	node  *html.Node
	attr  string // empty: the text
	part  bool   // the value is a part of it, or written otherwise there
	bytes int    // of the text there
}

// maxSpots is how many places of a value are looked at.
const maxSpots = 120

// maxDataText bounds a script of data in which values are looked for, in bytes.
const maxDataText = 64 << 10

// unasked are attributes that say how an element looks and acts, and not what it is about.
func unasked(name string) bool {
	return name == "class" || name == "style" || name == "id" || strings.HasPrefix(name, "on") || name == "for" ||
		name == "target"
}

// spots are the places of a value: those that have nothing else first, then the shorter ones.
func (t *tree) spots(v string) (out []spot) {
	if known, ok := t.found[v]; ok {
		return known
	}
	defer func() { t.found[v] = out }()
	size := solidOf(v)
	w := wantedOf(v)
	for i, n := range t.nodes {
		if silent[n.Data] {
			continue
		}
		for _, a := range n.Attr {
			if a.Namespace == "" && !unasked(a.Key) && len(a.Val) <= 4*len(v)+300 {
				if is, part := w.in(fold(a.Val), 0); is || t.leadsTo(a.Val, v) {
					out = append(out, spot{n, a.Key, part, len(a.Val)})
				}
			}
		}
		if s := t.solid[i]; s >= size && s <= 4*size+300 || s > 0 && s < 60 && (w.number != "" || w.date != "") {
			text := t.text(n)
			if is, part := w.in(text, 40); is {
				out = append(out, spot{n, "", part, len(text)})
			}
		}
	}
	for _, n := range t.data {
		if text := t.text(n); len(text) <= maxDataText {
			if is, part := w.in(text, 0); is {
				out = append(out, spot{n, "", part, len(text)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b spot) int {
		return cmp.Or(boolCompare(a.part, b.part), cmp.Compare(a.bytes, b.bytes))
	})
	out = out[:min(len(out), maxSpots)]
	return out
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// wantedText is a value that is looked for, and what it is as a number or a date, where it is one.
type wantedText struct{ text, number, date string }

func wantedOf(v string) *wantedText {
	return &wantedText{text: v, number: plainNumber(v), date: typed("date", v)}
}

// in tells whether a text is the value, or has it as a part or in another form. Texts of more than typedMost bytes are
// not read as numbers.
func (w *wantedText) in(text string, typedMost int) (is, part bool) {
	switch {
	case text == w.text:
		return true, false
	case within(text, w.text) >= 0:
		return true, true
	case len(text) > typedMost:
		return false, false
	case w.number != "" && typed("number", text) == w.number, w.date != "" && typed("date", text) == w.date:
		return true, true
	}
	return false, false
}

// typed is a text as a value of a type; empty: it is none.
func typed(kind, s string) string {
	if len(s) > 60 || !strings.ContainsAny(s, "0123456789") {
		return ""
	}
	v, ok := parser.InType(kind, s)
	if !ok {
		return ""
	}
	return parser.TextOfValue(v)
}

// plainNumber is a value that is nothing but a number, as a number; empty: it is none.
func plainNumber(v string) string {
	if strings.Trim(v, "0123456789.,'+- \u2212\u2019") != "" {
		return ""
	}
	return typed("number", v)
}

// within is where a part is in a text, between the ends of words; -1: nowhere.
func within(text, part string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return -1
		}
		i += from
		if apart(text, i) && apart(text, i+len(part)) {
			return i
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// apart tells whether a text may be cut at an offset: not within a word or a number.
func apart(text string, at int) bool {
	if at == 0 || at == len(text) {
		return true
	}
	a, _ := utf8.DecodeLastRuneInString(text[:at])
	b, _ := utf8.DecodeRuneInString(text[at:])
	letters, digits := unicode.IsLetter(a) && unicode.IsLetter(b), unicode.IsDigit(a) && unicode.IsDigit(b)
	return !letters && !digits
}

// leadsTo tells whether a reference on the page is the address that is wanted.
func (t *tree) leadsTo(ref, wanted string) bool {
	if t.page.URL.IsZero() || !strings.Contains(wanted, "://") || ref == "" {
		return false
	}
	u, err := t.page.URL.Resolve(strings.TrimSpace(ref))
	return err == nil && u.String() == wanted
}
