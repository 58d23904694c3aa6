package textsearch

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/digits"
)

// folding is what a character is to a word, and what it is searched for as: nothing, or one letter or more.
type folding struct {
	kind int
	text string
}

// foldings are those of the characters below its length; most text has no others but Chinese and Korean, which fold to
// themselves.
var foldings = sync.OnceValue(func() *[0x3100]folding {
	var t [0x3100]folding
	for r := range t {
		t[r] = makeFolding(rune(r))
	}
	return &t
})

// foldOf is the folding of a character.
func foldOf(r rune) folding {
	if 0 <= r && r < 0x3100 {
		return foldings()[r]
	}
	return makeFolding(r)
}

// makeFolding is lower case without accents for Latin and Greek, and one form for what is written in several:
// compatible forms (wide, narrow, ligatures), digits, the letters of alike. Folding the text again changes nothing.
func makeFolding(r rune) folding {
	kind := kindOf(r)
	if kind == apart || kind == unseen {
		return folding{kind: kind}
	}
	if text, ok := alike[r]; ok {
		return folding{letter, text}
	}
	lower := unicode.ToLower(r)
	for _, text := range []string{simple(lower), norm.NFKC.String(string(lower))} {
		if k, ok := settled(text); ok {
			return folding{k, text}
		}
	}
	return folding{kind, string(lower)}
}

// simple is a character in lower case without accents and in its compatible form.
func simple(r rune) string {
	if n, ok := digits.Value(r); ok {
		return string(rune('0' + n))
	}
	var b strings.Builder
	for i, c := range norm.NFKD.String(string(r)) {
		c = unicode.ToLower(c)
		switch {
		case i == 0 && !unicode.In(c, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew) && c >= utf8.RuneSelf:
			return "" // elsewhere a mark makes another letter of it
		case kindOf(c) == unseen:
		case alike[c] != "":
			b.WriteString(alike[c])
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// settled reports whether a text is one word, and what its first character is to a word.
func settled(text string) (kind int, ok bool) {
	for i, r := range text {
		k := kindOf(r)
		switch {
		case i == 0:
			kind = k
			ok = k == letter || k == alone || k == mark
		case k != mark && (k != letter || kind != letter):
			return kind, false
		}
		if !ok || r != unicode.ToLower(r) {
			return kind, false
		}
	}
	return kind, ok
}

// alike are letters that are written in another way where they are missing, or as often: by the tables of accents of
// Unicode's CLDR (Latin-ASCII), and by those of Lucene's normalizers for Arabic and Persian.
var alike = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d", 'ð': "d",
	'Ð': "d", 'þ': "th", 'Þ': "th", 'ł': "l", 'Ł': "l", 'ı': "i", 'ħ': "h", 'Ħ': "h", 'ŧ': "t", 'Ŧ': "t",
	'ŋ': "n", 'Ŋ': "n", 'ς': "σ", 'ё': "е", 'Ё': "е",
	'\u0649': "\u064a", '\u06cc': "\u064a", // yeh without dots, and Persian
	'\u06a9': "\u0643", // Persian kaf
	'\u0629': "\u0647", // ta marbuta: ha
	'\u0671': "\u0627", // alef with wasla
}

// composed is a word whose letters and marks are one character each where there is such a character. What is so already
// is returned as it is.
func composed(word string) string {
	if _, n := utf8.DecodeRuneInString(word); n == len(word) {
		return word // a single character folds as its parts do
	}
	if norm.NFC.IsNormalString(word) && !strings.ContainsAny(word, "\uff9e\uff9f") {
		return word
	}
	return norm.NFC.String(narrow.Replace(word))
}

// narrow has the marks of narrow Japanese letters, which are no marks to Unicode, with such letters: they are composed.
var narrow = func() *strings.Replacer {
	pairs := []string{"\uff9e", "\u3099", "\uff9f", "\u309a"}
	for r := rune(0xff66); r <= 0xff9d; r++ {
		pairs = append(pairs, string(r), norm.NFKC.String(string(r)))
	}
	return strings.NewReplacer(pairs...)
}()
