package textsearch

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxText is how many bytes of a text are searched; what comes behind is not found.
const MaxText = 128 << 10

// What a character is to a word.
const (
	apart  = iota // it separates words
	letter        // or digit
	accent        // of the letter before it: it does not count
	alone         // it is a word
)

// Words calls yield for each word of a text, as it is searched for, and its place in the text in bytes, until yield
// returns false.
func Words(text string, yield func(word string, from, to int) bool) {
	for i := 0; i < len(text); {
		kind, n := kindAt(text[i:])
		if kind == apart || kind == accent {
			i += n
			continue
		}
		from := i
		i += n
		for kind == letter && i < len(text) {
			next, n := kindAt(text[i:])
			if next != letter && next != accent {
				break
			}
			i += n
		}
		if !yield(fold(text[from:i]), from, i) {
			return
		}
	}
}

// kindAt is the kind of the first character of a text, and its length in bytes.
func kindAt(text string) (kind, n int) {
	if c := text[0]; c < utf8.RuneSelf {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' {
			return letter, 1
		}
		return apart, 1
	}
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case isAccent(r):
		return accent, n
	case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
		return apart, n
	case isAlone(r):
		return alone, n
	}
	return letter, n
}

// isAccent reports whether a character does not count: accents, the signs of vowels that Hebrew and Arabic mostly leave
// out, and what is not seen within words. Those of Hindi and its neighbours are part of the word.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return r == 0xad
	case r <= 0x36f, r >= 0x200b && r <= 0x200d, r == 0x2060:
		return true
	case r >= 0x591 && r <= 0x670:
		return r != 0x640 && unicode.IsMark(r)
	}
	return false
}

// isAlone reports whether a character is a word: those of scripts that put no space between words, marks too.
func isAlone(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r <= 0xfff, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff: // Thai, Lao, Tibetan; Burmese; Khmer
		return true
	}
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// fold is a word as it is searched for. What is so already is returned as it is.
func fold(word string) string {
	same := true
	for i := 0; same && i < len(word); i++ {
		same = word[i] < utf8.RuneSelf && (word[i] < 'A' || word[i] > 'Z')
	}
	if same {
		return word
	}
	return strings.Map(foldRune, word)
}

// folded are the characters below its length; most text has no others with case or accents.
var folded = sync.OnceValue(func() *[0x2000]rune {
	var t [0x2000]rune
	for r := range t {
		t[r] = makeFolded(rune(r))
	}
	return &t
})

func foldRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	case r < 0x2000:
		return folded()[r]
	}
	return makeFolded(r)
}

// makeFolded is a character in lower case and without accent; -1 for an accent.
func makeFolded(r rune) rune {
	if isAccent(r) {
		return -1
	}
	r = unicode.ToLower(r)
	if r == 'ς' { // at the end of a word
		return 'σ'
	}
	if d := norm.NFKD.PropertiesString(string(r)).Decomposition(); len(d) > 0 {
		base, n := utf8.DecodeRune(d)
		for len(d[n:]) > 0 {
			mark, m := utf8.DecodeRune(d[n:])
			if mark < 0x300 || mark > 0x36f {
				return r // two letters, or a mark that makes another letter of it
			}
			n += m
		}
		if base < utf8.RuneSelf && (unicode.IsLetter(base) || unicode.IsDigit(base)) ||
			unicode.In(base, unicode.Latin, unicode.Greek) {
			return unicode.ToLower(base)
		}
	}
	return r
}

// Folded is a text with its words as they are searched for, separated by anything: what an index of words is given.
func Folded(text string) string {
	text = cut(text)
	other := 0 // where the first character beyond ASCII is
	for other < len(text) && text[other] < utf8.RuneSelf {
		other++
	}
	if other == len(text) {
		return text // every index knows ASCII's cases
	}
	out := append(make([]byte, 0, len(text)+len(text)/8), text[:other]...)
	for i := other; i < len(text); {
		if text[i] < utf8.RuneSelf {
			out = append(out, text[i])
			i++
			continue
		}
		kind, n := kindAt(text[i:])
		r, _ := utf8.DecodeRuneInString(text[i:])
		i += n
		switch kind {
		case letter:
			out = utf8.AppendRune(out, foldRune(r))
		case alone:
			out = append(utf8.AppendRune(append(out, ' '), r), ' ')
		case apart:
			out = append(out, ' ')
		}
	}
	return string(out)
}
