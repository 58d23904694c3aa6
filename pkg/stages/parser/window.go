package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// back returns where up to n characters before at begin, at the beginning of a word if one is near.
func back(text string, at, n int) int {
	start := at
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	for whole := start; whole < at && divides(text, whole); {
		_, size := utf8.DecodeRuneInString(text[whole:])
		if whole += size; !divides(text, whole) {
			return whole
		}
	}
	return start
}

// forth returns where up to n characters from at on end, at the end of a word if one is near.
func forth(text string, at, n int) int {
	end := at
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	for whole := end; whole > at && divides(text, whole); {
		_, size := utf8.DecodeLastRuneInString(text[:whole])
		if whole -= size; !divides(text, whole) {
			return whole
		}
	}
	return end
}

// divides reports whether there is a word on both sides of a place in a text.
func divides(text string, at int) bool {
	if at == 0 || at == len(text) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return inWord(before) && inWord(after) && !spaceless(before) && !spaceless(after)
}

// foldSpace makes each run of white space one space.
func foldSpace(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// sameGlue reports whether what is between two words in a text is that of a keyword.
func sameGlue(between, glue string) bool {
	const near = 200 // bytes; a keyword has no more
	return len(between) <= near && foldSpace(between) == glue
}
