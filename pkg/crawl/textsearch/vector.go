package textsearch

import (
	"strconv"
	"strings"
)

// PostgreSQL's bounds: the last place that a vector tells, how many of a word, and the bytes of a word.
const (
	maxPlace  = 16_383
	maxPlaces = 255
	maxLexeme = 2_000
)

// Vector writes a page as PostgreSQL's tsvector reads it: its words with their places, labelled by field. Phrases are
// found where their words are among the first 16,383 of the page and the first 255 of their kind, words anywhere in
// MaxText.
func Vector(title, url, text string) string {
	v := vector{at: map[string]*places{}}
	v.add(title, "A")
	v.add(url, "B")
	v.add(cut(text), "")
	var b strings.Builder
	for _, p := range v.list {
		b.WriteByte('\'')
		b.WriteString(p.word)
		b.WriteByte('\'')
		b.Write(p.at)
		b.WriteByte(' ')
	}
	return b.String()
}

type vector struct {
	at    map[string]*places
	list  []*places
	place int
}

type places struct {
	word string
	n    int
	at   []byte
}

func (v *vector) add(text, label string) {
	v.place++ // a phrase does not go from one field into the next
	Words(text, func(word string, _, _ int) bool {
		v.place++
		if len(word) > maxLexeme {
			return true
		}
		p := v.at[word]
		if p == nil {
			p = &places{word: word}
			v.at[word], v.list = p, append(v.list, p)
		}
		if p.n++; p.n > maxPlaces || v.place > maxPlace && p.n > 1 {
			return true
		}
		sep := byte(',')
		if p.n == 1 {
			sep = ':'
		}
		p.at = append(strconv.AppendInt(append(p.at, sep), int64(min(v.place, maxPlace)), 10), label...)
		return true
	})
}
