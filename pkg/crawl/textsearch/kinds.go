package textsearch

import "unicode"

// kindOf is what a character is to a word.
func kindOf(r rune) int {
	switch {
	case unicode.Is(ignored, r):
		return unseen
	case unicode.IsMark(r) || unicode.Is(joined, r):
		return mark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return apart
	case unicode.Is(unicode.Nd, r):
		return letter
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ':
		return alone
	}
	return letter
}

// ignored are characters within words that many leave out: accents, the points of Hebrew and Arabic vowels, what only
// lengthens a word or says where it may be broken.
var ignored = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1},                                                                // soft hyphen
		{0x0300, 0x036f, 1},                                                                // accents
		{0x0591, 0x05bd, 1}, {0x05bf, 0x05c1, 2}, {0x05c2, 0x05c4, 2}, {0x05c5, 0x05c7, 2}, // Hebrew
		{0x0610, 0x061a, 1}, {0x0640, 0x0640, 1}, {0x064b, 0x065f, 1}, {0x0670, 0x0670, 1}, // Arabic, with the lengthening
		{0x06d6, 0x06dc, 1}, {0x06df, 0x06e4, 1}, {0x06e7, 0x06e8, 1}, {0x06ea, 0x06ed, 1},
		{0x1ab0, 0x1aff, 1}, {0x1dc0, 0x1dff, 1}, // more accents
		{0x200b, 0x200d, 1}, {0x2060, 0x2060, 1}, // joiners, and places to break a word
		{0x20d0, 0x20ff, 1},
		{0xfe00, 0xfe0f, 1}, // variants
		{0xfe20, 0xfe2f, 1},
	},
	LatinOffset: 1,
}

// joined are marks that Unicode calls letters: of narrow Japanese letters, and the vowels and ends of Korean syllables
// that are written apart.
var joined = &unicode.RangeTable{R16: []unicode.Range16{{0x1160, 0x11ff, 1}, {0xff9e, 0xff9f, 1}}}
