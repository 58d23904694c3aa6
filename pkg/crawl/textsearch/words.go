package textsearch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is how many bytes of a text are searched; what comes behind is not found.
const MaxText = 128 << 10

// What a character is to a word.
const (
	apart  = iota // it separates words
	letter        // or digit
	alone         // it is a word, with the marks behind it: of a script that sets no spaces between words, or that adds endings
	mark          // of the letter before it
	unseen        // like a mark, and it does not count: an accent, a vowel point, a soft hyphen
)

// Words calls yield for each word of a text, as it is searched for, and its place in the text in bytes, until yield
// returns false.
func Words(text string, yield func(word string, from, to int) bool) {
	for i := 0; i < len(text); {
		kind, n := kindAt(text[i:])
		from := i
		i += n
		if kind != letter && kind != alone {
			continue
		}
		for i < len(text) {
			next, n := kindAt(text[i:])
			if next != mark && next != unseen && (next != letter || kind == alone) {
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
	if ideographic(r) {
		return alone, n
	}
	return foldOf(r).kind, n
}

// ideographic is for most characters of Chinese and Korean, which are words and fold to themselves.
func ideographic(r rune) bool { return 0x4e00 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3 }

// fold is a word as it is searched for. What is so already is returned as it is.
func fold(word string) string {
	ascii, same := true, true
	for i := 0; ascii && i < len(word); i++ {
		ascii = word[i] < utf8.RuneSelf
		same = same && (word[i] < 'A' || word[i] > 'Z')
	}
	switch {
	case ascii && same:
		return word
	case ascii:
		return strings.ToLower(word)
	}
	return string(appendFolded(make([]byte, 0, len(word)+8), word))
}

// appendFolded appends a word, or a part of it, as it is searched for.
func appendFolded(to []byte, word string) []byte {
	for _, r := range composed(word) {
		if r < utf8.RuneSelf || ideographic(r) {
			to = utf8.AppendRune(to, unicode.ToLower(r))
		} else {
			to = append(to, foldOf(r).text...)
		}
	}
	return to
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
		from := i
		for i += n; kind != apart && i < len(text); i += n { // with its marks, of which it may be composed
			var next int
			if next, n = kindAt(text[i:]); next != mark && next != unseen {
				break
			}
		}
		switch kind {
		case alone:
			out = append(appendFolded(append(out, ' '), text[from:i]), ' ')
		case apart:
			out = append(out, ' ')
		default:
			out = appendFolded(out, text[from:i])
		}
	}
	return string(out)
}
