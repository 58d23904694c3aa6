package topic

import (
	"math"
	"unicode"
	"unicode/utf8"
)

const (
	bits = 18
	// Features is the number of features that words and pairs are hashed to.
	Features = 1 << bits
	// MaxText is how many bytes of a text are read: what a page is about is said by then.
	MaxText = 20 << 10
	// TitleWeight is what a feature of the title counts, beside 1 for those of the text.
	TitleWeight = 3
)

// Vector is a page as a model sees it: features, each once. Those of the title come first.
type Vector struct {
	IDs   []uint32
	Title int // how many of IDs are of the title
}

// norm is by what values are multiplied, so that a long page weighs no more than a short one.
func (v *Vector) norm() float64 {
	n := TitleWeight*TitleWeight*v.Title + len(v.IDs) - v.Title
	if n == 0 {
		return 0
	}
	return 1 / math.Sqrt(float64(n))
}

// Clone returns a copy that the next Read leaves alone.
func (v Vector) Clone() Vector { return Vector{append([]uint32(nil), v.IDs...), v.Title} }

// Reader makes vectors. It is for one goroutine at a time; the zero Reader is ready.
type Reader struct {
	seen [Features / 64]uint64
	ids  []uint32
}

// Read makes the vector of a page. It is valid until the next call, and takes no memory once the Reader has read a page
// of that size.
func (r *Reader) Read(title, text string) Vector {
	r.ids = r.ids[:0]
	r.words(title)
	titled := len(r.ids)
	r.words(text)
	for _, id := range r.ids {
		r.seen[id/64] = 0
	}
	return Vector{r.ids, titled}
}

// Of a word's hash every byte counts: FNV-1a's steps, with a multiplier of more bits, and a finish that spreads them to
// the top (as xxHash's). Words of other scripts than ASCII are hashed by their lower-case runes.
const (
	seed    = 0xcbf29ce484222325
	step    = 0x9e3779b185ebca87
	pairing = 0xc2b2ae3d27d4eb4f
)

func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= pairing
	return h ^ h>>29
}

// lower are ASCII letters in lower case and digits; 0 for what is neither.
var lower = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = byte(c)
		case c >= 'A' && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// words adds the features of a text.
func (r *Reader) words(s string) {
	if len(s) > MaxText {
		s = s[:MaxText]
	}
	before, h, letters, n := uint64(0), uint64(seed), 0, 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if l := lower[c]; l != 0 {
				h = (h ^ uint64(l)) * step
				n++
				if l >= 'a' {
					letters++
				}
				continue
			}
		} else {
			u, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if !single(u) {
				if unicode.IsLetter(u) || unicode.IsMark(u) || unicode.IsDigit(u) {
					h = (h ^ uint64(unicode.ToLower(u))) * step
					n, letters = n+2, letters+1
					continue
				}
			} else {
				if letters > 0 && n > 1 {
					before = r.word(h, before)
				}
				h, letters, n = (seed^uint64(u))*step, 1, 2
			}
		}
		if letters > 0 && n > 1 {
			before = r.word(h, before)
		}
		h, letters, n = seed, 0, 0
	}
	if letters > 0 && n > 1 {
		r.word(h, before)
	}
}

// single reports whether a character is a word by itself: its script has no blanks between words.
func single(u rune) bool {
	return u >= 0x2e80 && unicode.In(u, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer)
}

// word adds a word and its pair with the one before it (0: none), and returns its hash. A word is of two bytes at
// least, and not of digits alone: years and counters tell pages apart that are about the same.
func (r *Reader) word(h, before uint64) uint64 {
	h = finish(h)
	r.add(h)
	if before != 0 {
		r.add(finish(before*step + h))
	}
	return h
}

func (r *Reader) add(h uint64) {
	id := uint32(h >> (64 - bits))
	if bit := uint64(1) << (id % 64); r.seen[id/64]&bit == 0 {
		r.seen[id/64] |= bit
		r.ids = append(r.ids, id)
	}
}
