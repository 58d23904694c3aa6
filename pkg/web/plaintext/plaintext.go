// Package plaintext makes texts of pages fit to be shown: they cannot turn the text around them, nor be endless.
package plaintext

import (
	"strings"
	"unicode/utf8"
)

// Of is a string as answers give it: valid UTF-8 of at most so many bytes, without characters that turn the
// direction of the text around them; controls are U+FFFD.
func Of(s string, most int) string {
	if len(s) > most {
		s = s[:most]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		if r, n := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && n == 1 {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexFunc(s, Steers) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !Steers(r):
			return r
		case r < 0x100:
			return '\uFFFD'
		}
		return -1
	}, s)
}

// Level is Of for a text in which places are counted in bytes: each character is replaced by one as long.
func Level(s string) string {
	if strings.IndexFunc(s, Steers) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !Steers(r):
			return r
		case r < 0x80:
			return '?'
		case r < 0x800:
			return '¿'
		}
		return '\uFFFD'
	}, s)
}

// Steers reports whether a character is a control, or one of those that order text in two directions.
func Steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}
