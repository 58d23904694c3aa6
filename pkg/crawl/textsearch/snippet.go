package textsearch

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Piece is a piece of plain text; Hit: it is what was searched for.
type Piece struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit,omitempty"`
}

// A snippet has so many bytes, of which so many are before its first hit. maxHits bounds how many are looked at.
const (
	snippetBytes  = 200
	snippetBefore = 60
	maxHits       = 2_000
)

// hit is where a term is in a text.
type hit struct{ from, to, term int }

// Snippet is the part of a text in which most terms of a query are found, with the hits marked. Line breaks and runs
// of space are single spaces. Without a hit it is the text's beginning. The text must be plain: what it has is shown.
func (q *Query) Snippet(text string) []Piece {
	text = cut(text)
	hits := q.hits(text, Text)
	from, to := window(text, hits)
	return pieces(text, hits, from, to)
}

// cut is what of a text is searched.
func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Mark is a short text as a whole with the hits marked: that of a field.
func (q *Query) Mark(text string, of Field) []Piece {
	return pieces(text, q.hits(text, of), 0, len(text))
}

// hits finds the terms in a text of a field, in their order.
func (q *Query) hits(text string, of Field) (out []hit) {
	var terms []Term
	longest := 0
	for _, clause := range q.All {
		for _, t := range clause {
			if t.Field == "" || t.Field == of {
				terms, longest = append(terms, t), max(longest, len(t.Words))
			}
		}
	}
	type seen struct {
		word string
		from int
	}
	var last []seen // words, the longest term's number of them at most
	Words(text, func(word string, from, to int) bool {
		if last = append(last, seen{word, from}); len(last) > longest {
			last = last[1:]
		}
		for i, t := range terms {
			k := len(last) - len(t.Words)
			if k >= 0 && t.ends(len(t.Words), func(j int) string { return last[k+j].word }) {
				out = append(out, hit{last[k].from, to, i})
			}
		}
		return len(out) < maxHits && longest > 0
	})
	slices.SortStableFunc(out, func(a, b hit) int { return a.from - b.from })
	return out
}

// ends reports whether words are those of a term.
func (t *Term) ends(n int, word func(int) string) bool {
	for i := range n {
		w := word(i)
		if w != t.Words[i] && (!t.Start || i < n-1 || !strings.HasPrefix(w, t.Words[i])) {
			return false
		}
	}
	return true
}

// window chooses the part of a text that has the most different terms, then the most hits, then comes first.
func window(text string, hits []hit) (from, to int) {
	best, first := -1, 0
	for i, h := range hits {
		var terms uint64
		n := 0
		for _, other := range hits[i:] {
			if other.to > h.from+snippetBytes-snippetBefore {
				break
			}
			terms |= 1 << (other.term % 64)
			n++
		}
		if score := bits.OnesCount64(terms)*maxHits + n; score > best {
			best, first = score, h.from
		}
	}
	from, to = max(0, first-snippetBefore), min(len(text), first+snippetBytes-snippetBefore)
	if from == 0 {
		to = min(len(text), snippetBytes)
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	if space := strings.IndexAny(text[from:first], " \n\t"); from > 0 && space >= 0 {
		from += space + 1
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	if space := strings.LastIndexAny(text[first:to], " \n\t"); to < len(text) && space > 0 {
		to = first + space
	}
	return from, to
}

// pieces parts a text at the hits.
func pieces(text string, hits []hit, from, to int) (out []Piece) {
	add := func(s string, hit bool) {
		s = oneLine(s)
		if s == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].Hit == hit {
			out[n-1].Text += s
			return
		}
		out = append(out, Piece{s, hit})
	}
	at := from
	for _, h := range hits {
		if h.from < from || h.to > to || h.to <= at {
			continue
		}
		add(text[at:max(at, h.from)], false)
		add(text[max(at, h.from):h.to], true)
		at = h.to
	}
	add(text[at:to], false)
	return out
}

// oneLine makes runs of white space a space each.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\t\r\f\v") && !strings.Contains(s, "  ") {
		return s
	}
	out := strings.Join(strings.Fields(s), " ")
	if out == "" {
		return " "
	}
	if isSpace(s[0]) {
		out = " " + out
	}
	if isSpace(s[len(s)-1]) {
		out += " "
	}
	return out
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}
