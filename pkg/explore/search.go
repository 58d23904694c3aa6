package explore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerms bounds a search.
const maxTerms = 12

// terms are the words and phrases of a search.
func terms(query string) (list []term) {
	query = strings.ToValidUTF8(query, " ")
	for query = strings.TrimSpace(query); query != "" && len(list) < maxTerms; query = strings.TrimSpace(query) {
		var t term
		if t.not = strings.HasPrefix(query, "-"); t.not {
			query = query[1:]
		}
		if rest, ok := strings.CutPrefix(query, `"`); ok {
			t.text, query, _ = strings.Cut(rest, `"`)
		} else {
			end := strings.IndexFunc(query, unicode.IsSpace)
			if end < 0 {
				end = len(query)
			}
			t.text, query = query[:end], query[end:]
			t.text, t.start = strings.CutSuffix(t.text, "*")
		}
		if t.text = strings.ReplaceAll(t.text, `"`, " "); strings.IndexFunc(t.text, wordly) >= 0 {
			list = append(list, t)
		}
	}
	return list
}

type term struct {
	text  string
	start bool // of a word
	not   bool
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// matchOf writes a search as FTS5 reads it: each term as a quoted string, so that nothing of it is syntax.
func matchOf(query string) string {
	var yes, no []string
	for _, t := range terms(query) {
		quoted := `"` + strings.ReplaceAll(t.text, "\x00", " ") + `"`
		if t.start {
			quoted += "*"
		}
		if t.not {
			no = append(no, quoted)
			continue
		}
		yes = append(yes, quoted)
	}
	if len(yes) == 0 {
		return ""
	}
	match := strings.Join(yes, " AND ")
	for _, n := range no {
		match = "(" + match + ") NOT " + n
	}
	return match
}

// The snippet of a search.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// snippet is the part of a record's text where the first term is found.
func (x *index) snippet(r *recordAt, query string) []Piece {
	line, err := x.recordLine(r.off, r.len)
	if err != nil {
		return nil
	}
	p, err := parsePage(line)
	if err != nil || p.Text == "" {
		return nil
	}
	return snippetOf(plain(p.Text, maxIndexed), terms(query))
}

func snippetOf(text string, list []term) []Piece {
	folded, first := strings.ToLower(text), -1
	if len(folded) != len(text) { // some letters change their length
		folded = text
	}
	for _, t := range list {
		if at := strings.Index(folded, strings.ToLower(t.text)); !t.not && at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	first = max(first, 0)
	from, to := max(0, first-snippetBefore), min(len(text), first+snippetAfter)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	if space := strings.IndexByte(text[from:first], ' '); from > 0 && space >= 0 {
		from += space + 1
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return mark(text[from:to], folded[from:to], list)
}

// mark parts a text at the terms that it holds.
func mark(text, folded string, list []term) (out []Piece) {
	for text != "" {
		at, n := -1, 0
		for _, t := range list {
			low := strings.ToLower(t.text)
			if i := strings.Index(folded, low); !t.not && i >= 0 && low != "" && (at < 0 || i < at) {
				at, n = i, len(low)
			}
		}
		if at < 0 {
			return append(out, Piece{Text: text})
		}
		if at > 0 {
			out = append(out, Piece{Text: text[:at]})
		}
		out = append(out, Piece{Text: text[at : at+n], Hit: true})
		text, folded = text[at+n:], folded[at+n:]
	}
	return out
}
