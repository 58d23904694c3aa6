package contentseen

import (
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// maxWord bounds a word's bytes. What is longer (base64, a minified script) counts as several words.
const maxWord = 128

// scanner takes a text apart into words and counts them in the simhash's terms and the sketch's minima.
type scanner struct {
	words int
	terms terms
	mins  minima
	last  [shingleWords - 1]uint64 // hashes of the words before, newest first
	buf   [maxWord]byte
}

// Classes of bytes in lowerCase; every other value is the lower-case letter or digit itself.
const (
	separator = 0
	foreign   = 1 // part of a character beyond ASCII
)

var lowerCase = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = foreign
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z':
			t[c] = byte(c)
		case c >= 'A' && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// twoBytes is the first character that UTF-8 encodes in three bytes. The alphabets before it (Latin, Greek, Cyrillic,
// Hebrew, Arabic) need no look into the Unicode tables.
const twoBytes = 0x800

// lowerShort is the lower case of the characters before twoBytes; 0 for those that belong to no word.
var lowerShort = func() (t [twoBytes]rune) {
	for r := range rune(twoBytes) {
		if inWord(r) {
			t[r] = unicode.ToLower(r)
		}
	}
	return t
}()

// scan adds the words of text. Words of ASCII take the short way.
func (s *scanner) scan(text string) {
	for i := 0; i < len(text); {
		c := lowerCase[text[i]]
		if c == separator {
			i++
			continue
		}
		word := text[i:min(len(text), i+maxWord)]
		n := 0
		for n < len(word) {
			if c = lowerCase[word[n]]; c <= foreign {
				break
			}
			s.buf[n%maxWord] = c
			n++
		}
		if c == foreign {
			i = s.scanWord(text, i)
			continue
		}
		s.add(xxh3.Hash(s.buf[:n]))
		i += n
	}
}

// scanWord adds the word that starts at text[i], letters of any script, and returns where it ends. It takes at least
// one character.
func (s *scanner) scanWord(text string, i int) int {
	n := 0
	for i < len(text) && n <= maxWord-utf8.UTFMax {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r < twoBytes {
			lower := lowerShort[r]
			i += size
			if lower == 0 {
				break
			}
			n += utf8.EncodeRune(s.buf[n:], lower)
			continue
		}
		if !inWord(r) {
			i += size
			break
		}
		if unspaced(r) {
			s.addBuffered(n)
			return s.scanPairs(text, i)
		}
		n += utf8.EncodeRune(s.buf[n:], unicode.ToLower(r))
		i += size
	}
	s.addBuffered(n)
	return i
}

// scanPairs adds the overlapping pairs of characters of a run without spaces that starts at text[i], or the character
// if it stands alone, and returns where the run ends.
func (s *scanner) scanPairs(text string, i int) int {
	before, pairs := 0, 0 // bytes of the character before, already in buf
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) || !unspaced(r) {
			break
		}
		n := before + copy(s.buf[before:], text[i:i+size])
		if before > 0 {
			s.add(xxh3.Hash(s.buf[:n]))
			pairs++
		}
		copy(s.buf[:], text[i:i+size])
		before, i = size, i+size
	}
	if pairs == 0 {
		s.addBuffered(before)
	}
	return i
}

func (s *scanner) addBuffered(n int) {
	if n > 0 {
		s.add(xxh3.Hash(s.buf[:n]))
	}
}

// add counts a word by its hash.
func (s *scanner) add(h uint64) {
	s.words++
	s.terms.add(h)
	if s.words >= shingleWords {
		s.mins.add(shingle(h, s.last[0], s.last[1], s.last[2]))
	}
	s.last[2], s.last[1], s.last[0] = s.last[1], s.last[0], h
}

// inWord reports whether r belongs to a word. Marks do: without them words of Indic scripts fall apart.
func inWord(r rune) bool {
	if r == utf8.RuneError {
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// unspaced reports whether r, a letter or mark, is of a script that is written without spaces between words: Han, kana,
// bopomofo, Thai, Lao, Khmer, Myanmar. Hangul has spaces.
func unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff: // Thai, Lao
		return true
	case r < 0x3040:
		return r >= 0x1000 && r <= 0x109f || r >= 0x1780 && r <= 0x17ff // Myanmar, Khmer
	case r <= 0x312f, r >= 0x31a0 && r <= 0x31ff: // kana, bopomofo
		return true
	}
	return r >= 0x3400 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff66 && r <= 0xff9f || r >= 0x20000
}
