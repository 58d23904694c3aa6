package jsonl

import (
	"math/bits"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. The result is byte for byte that of encoding/json with HTML escaping off:
// control characters, '"', '\' and U+2028/2029 are escaped, each invalid byte becomes \ufffd.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start, i := 0, 0
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if n := plainRun(s[i:]); n > 0 {
				i += n
				continue
			}
			dst = appendEscaped(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		size, esc := wide(s[i:])
		if esc != "" {
			dst = append(append(dst, s[start:i]...), esc...)
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainRun returns how many bytes at the start of s are ASCII that needs no escaping. It looks at eight at a time: a
// byte b of x is below n where (x - n*ones) &^ x has its high bit set, and equal to c where x ^ c*ones has a zero byte.
// A byte that is too low borrows from those above, which does not matter: the lowest decides.
func plainRun(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		quote, slash := x^('"'*ones), x^('\\'*ones)
		special := (x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash | x
		if special &= highs; special != 0 {
			return i + bits.TrailingZeros64(special)>>3
		}
	}
	for i < len(s) && isPlain(s[i]) {
		i++
	}
	return i
}

func isPlain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// wide returns the size of the non-ASCII character at the start of s, and what must stand for it ("": itself). The two
// ranges that hold nearly all text (U+0080-07FF, and U+1000-1FFF with U+3000-CFFF) are told apart without decoding.
func wide(s string) (size int, esc string) {
	switch c := s[0]; {
	case 0xC2 <= c && c <= 0xDF && len(s) > 1 && isTail(s[1]):
		return 2, ""
	case (c == 0xE1 || 0xE3 <= c && c <= 0xEC) && len(s) > 2 && isTail(s[1]) && isTail(s[2]):
		return 3, ""
	}
	switch r, n := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && n == 1:
		return 1, `\ufffd`
	case r == '\u2028':
		return n, `\u2028`
	case r == '\u2029':
		return n, `\u2029`
	default:
		return n, ""
	}
}

func isTail(c byte) bool { return c&0xC0 == 0x80 }

// appendEscaped appends the escape of an ASCII character that may not stand for itself.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
