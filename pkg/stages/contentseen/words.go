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
	words   int
	terms   terms
	mins    minima
	pending [shingleWords - 1 + maxPending]uint64 // hashes of words: of the last three counted, and of those to come
	n       int                                   // how many of pending are set
	buf     [maxWord]byte
}

// maxPending is how many words are counted together. Three short loops, one after the other, wait less for one
// another's branches than one long loop does.
const maxPending = 256

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

// scan adds the words of text. Words of up to 16 bytes of ASCII take the short way.
func (s *scanner) scan(text string) {
	i := 0
	for i+16 <= len(text) {
		lower, words := wordLanes(eightBytes(text, i))
		n := lanesBefore(^words & tops)
		if n == 0 {
			if text[i] >= utf8.RuneSelf {
				i = s.scanWord(text, i)
			} else {
				i += max(1, min(lanesBefore(words), lanesBefore(lower&tops)))
			}
			continue
		}
		if n < 8 {
			if text[i+n] >= utf8.RuneSelf {
				i = s.scanWord(text, i)
				continue
			}
			s.add(hash8(firstLanes(lower, n), n))
			i += n + 1
			continue
		}
		i = s.scanLong(text, i, lower)
	}
	for i < len(text) {
		i = s.scanPlain(text, i)
	}
}

// scanLong adds the word that starts at text[i] with eight letters, which lower holds in lower case, and returns where
// it ends. There are sixteen bytes.
func (s *scanner) scanLong(text string, i int, lower uint64) int {
	more, words := wordLanes(eightBytes(text, i+8))
	n := lanesBefore(^words & tops)
	switch {
	case n == 8:
		return s.scanPlain(text, i)
	case text[i+8+n] >= utf8.RuneSelf:
		return s.scanWord(text, i)
	case n == 0:
		s.add(hash8(lower, 8))
	default:
		s.add(hash16(lower, firstLanes(more, n), 8+n))
	}
	return i + 8 + n + 1
}

// scanPlain adds the word that starts at text[i], if one does, byte by byte, and returns where it ends.
func (s *scanner) scanPlain(text string, i int) int {
	c := lowerCase[text[i]]
	if c == separator {
		return i + 1
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
		return s.scanWord(text, i)
	}
	s.add(xxh3.Hash(s.buf[:n]))
	return i + n
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

// add takes a word by its hash, to be counted.
func (s *scanner) add(h uint64) {
	if s.n == len(s.pending) {
		s.count()
	}
	s.pending[s.n] = h
	s.n++
}

// count counts the words that were taken.
func (s *scanner) count() {
	fresh := s.pending[shingleWords-1 : s.n]
	for i, h := range fresh {
		if s.words+i >= shingleWords-1 {
			before := s.pending[i : i+shingleWords]
			s.mins.add(shingle(h, before[2], before[1], before[0]))
		}
	}
	for _, h := range fresh {
		s.terms.add(h)
	}
	s.words += len(fresh)
	copy(s.pending[:], s.pending[s.n-shingleWords+1:s.n])
	s.n = shingleWords - 1
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
