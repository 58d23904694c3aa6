package charsets

import (
	"cmp"
	"unicode/utf8"
)

// A document that declares nothing and is no UTF-8 is in the encoding of the place that it comes from. Browsers guess
// it from the octets (HTML Standard, 13.2.3.2, step 8), and so do we, for the encodings of old pages in East Asia, in
// Cyrillic, Greek, Hebrew, Arabic and Thai; all else stays windows-1252, in whose languages letters beyond ASCII stand
// alone, and the Latin ones that can be told from them.
const (
	guessBytes = 64 << 10 // of the document that are looked at
	fewHigh    = 8        // octets beyond ASCII; with fewer there is nothing to go by
	fewFaults  = 100      // pairs to a fault, at least
)

// guess names the encoding that the octets speak for; "" where they speak for none.
func guess(body []byte) string {
	body = body[:min(len(body), guessBytes)]
	c := count(body)
	switch {
	case c.high < fewHigh:
		return ""
	case mostlyUTF8(body):
		return utf8Name
	case 2*c.alone > c.high:
		return c.central(body)
	}
	if c.thai() {
		return "windows-874"
	}
	if name := guessPairs(body); name != "" {
		return name
	}
	return cmp.Or(c.guessLetters(), c.central(body))
}

// octets are counts of those beyond ASCII.
type octets struct {
	each   [256]int
	high   int
	alone  int // with ASCII on both sides
	inRuns int // in runs of three and more
}

func count(body []byte) (c octets) {
	for i := 0; i < len(body); {
		run := i
		for ; i < len(body) && body[i] >= 0x80; i++ {
			c.each[body[i]]++
		}
		n := i - run
		c.high += n
		if n == 1 {
			c.alone++
		}
		if n >= 3 {
			c.inRuns += n
		}
		if n == 0 {
			i++
		}
	}
	return c
}

// of counts the octets in a list.
func (c *octets) of(list string) (n int) {
	for i := range len(list) {
		n += c.each[list[i]]
	}
	return n
}

// Common letters, and some that others' texts do not have at their places.
const (
	cyrillic1251 = "\xEE\xE5\xE0\xE8\xED\xF2\xF1\xF0\xE2\xEB" // о е а и н т с р в л
	cyrillicKOI8 = "\xCF\xC5\xC1\xC9\xCE\xD4\xD3\xD2\xD7\xCC"
	cyrillicISO  = "\xDE\xD5\xD0\xD8\xDD\xE2\xE1\xE0\xD2\xDB"
	cyrillicDOS  = "\xAE\xA5\xA0\xA8\xAD\xE2\xE1\xE0\xA2\xAB"
	cyrillicLast = "\xFB\xFC\xFF" // ы ь я
	// The same in ISO 8859-5 and code page 866.
	cyrillicISOLast = "\xEB\xEC\xEF"
	koi8Last        = "\xD9\xD8\xD1"
	greekCommon     = "\xE1\xEF\xE9\xE5\xF4\xF3\xED\xE7\xF5\xF1\xEA\xF0\xF2\xDC\xDF\xFC\xDD\xDE\xEB\xEC"
	hebrewLetters   = "\xE0\xE1\xE2\xE3\xE4\xE5\xE6\xE7\xE8\xE9\xEA\xEB\xEC\xED\xEE\xEF" +
		"\xF0\xF1\xF2\xF3\xF4\xF5\xF6\xF7\xF8\xF9\xFA"
)

// Letters and vowel signs that make up most of a Thai text, and octets that are no letter in any; letters that make up
// most of an Arabic one, the two commonest apart.
const (
	thaiCommon   = "\xD2\xB9\xC3\xCD\xA1\xE0\xC7\xC1\xD1\xE8\xC2\xC5\xB7\xD5\xCA\xB5\xE9\xA7"
	thaiNever    = "\xDB\xDC\xDD\xDE\xFC\xFD\xFE\xFF"
	arabicCommon = "\xED\xE3\xE6\xE4\xD1\xCA\xE5\xCF\xC8\xDA\xDD\xC9\xCD\xDF\xD3\xDE"
	arabicAlif   = '\xC7'
	arabicLam    = '\xE1'
	thaiLetters  = 40 // octets; with fewer, pairs might do without those that are no letter by chance
)

// thai says whether the octets speak for Thai. As pairs, they would be Chinese.
func (c *octets) thai() bool {
	return c.high >= thaiLetters && c.of(thaiNever) == 0 && 2*c.of(thaiCommon) > c.high && 10*c.inRuns >= 8*c.high
}

func (c *octets) arabic() bool {
	alif, lam := c.each[arabicAlif], c.each[arabicLam]
	return 12*alif > c.high && 20*lam > c.high && 10*(alif+lam+c.of(arabicCommon)) > 7*c.high
}

// guessLetters guesses an encoding of one octet a letter, by the letters that are common in the languages that use it.
func (c *octets) guessLetters() string {
	if 10*c.inRuns < 8*c.high {
		return ""
	}
	switch {
	case c.arabic():
		return "windows-1256"
	case 2*c.of(cyrillic1251) > c.high && 100*c.of(cyrillicLast) > c.high:
		return "windows-1251"
	case 2*c.of(cyrillicKOI8) > c.high && 100*c.of(koi8Last) > c.high:
		return "koi8-r"
	case 2*c.of(cyrillicISO) > c.high && 100*c.of(cyrillicISOLast) > c.high:
		return "iso-8859-5"
	case 2*c.of(cyrillicDOS) > c.high && 100*c.of(cyrillicISOLast) > c.high:
		return "ibm866"
	case 50*c.of(hebrewLetters) > 49*c.high:
		return "windows-1255"
	case 4*c.of(greekCommon) > 3*c.high:
		return "windows-1253"
	}
	return ""
}

// pairCount is what a walk over a text of pairs of octets found.
type pairCount struct {
	pairs, faults int
	kana          int // Japanese syllables
	lowTrails     int // second octets that are ASCII
	leads         [256]int
}

// walk reads the octets as pairs that begin with a lead. single says which octets beyond ASCII stand for themselves.
func walk(body []byte, lead, trail, single func(byte) bool, kana func(a, b byte) bool) (c pairCount) {
	for i := 0; i < len(body); i++ {
		a := body[i]
		switch {
		case a < 0x80 || single(a):
		case lead(a) && i+1 < len(body) && trail(body[i+1]):
			b := body[i+1]
			c.pairs++
			c.leads[a]++
			if kana(a, b) {
				c.kana++
			}
			if b < 0x80 {
				c.lowTrails++
			}
			i++
		default:
			c.faults++
		}
	}
	return c
}

// good says whether what was read may be such a text.
func (c *pairCount) good() bool {
	return 2*c.pairs >= fewHigh && c.faults*fewFaults <= max(c.pairs, fewFaults)
}

func (c *pairCount) from(a, b byte) (n int) {
	for i := int(a); i <= int(b); i++ {
		n += c.leads[i]
	}
	return n
}

// upTo says of octets whether they are 0xA1 to last.
func upTo(last byte) func(byte) bool { return func(c byte) bool { return c >= 0xA1 && c <= last } }

func never(byte) bool { return false }

// guessPairs guesses an encoding of two octets a character.
func guessPairs(body []byte) string {
	euc := walk(body, upTo(0xFE), upTo(0xFE), never, func(a, _ byte) bool { return a == 0xA4 || a == 0xA5 })
	if euc.good() {
		text := euc.from(0xB0, 0xF7)
		switch {
		case 5*euc.kana > euc.pairs:
			return "euc-jp"
		case 2*text < euc.pairs:
			return ""
		case 20*euc.from(0xB0, 0xC8) > 19*text: // the Korean syllables; Chinese characters fill the rows behind them, too
			return "euc-kr"
		}
		return "gbk"
	}
	sjis := walk(body, func(c byte) bool { return c >= 0x81 && c <= 0x9F || c >= 0xE0 && c <= 0xFC },
		func(c byte) bool { return c >= 0x40 && c <= 0xFC && c != 0x7F }, upTo(0xDF),
		func(a, b byte) bool { return a == 0x82 && b >= 0x9F && b <= 0xF1 || a == 0x83 && b <= 0x96 })
	if sjis.good() && 5*sjis.kana > sjis.pairs {
		return "shift_jis"
	}
	big5 := walk(body, upTo(0xF9), func(c byte) bool { return c >= 0x40 && c <= 0x7E || c >= 0xA1 && c <= 0xFE },
		never, func(_, _ byte) bool { return false })
	if big5.good() && 6*big5.lowTrails > big5.pairs && 5*big5.from(0xA1, 0xC6) > 4*big5.pairs {
		return "big5"
	}
	return ""
}

// mostlyUTF8 says whether the document is UTF-8 but for a few octets, as where texts of others were put into it.
func mostlyUTF8(body []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(body); {
		r, n := utf8.DecodeRune(body[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		i += n
	}
	return good >= fewHigh && good >= 10*bad
}
