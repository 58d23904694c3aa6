package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scales are what follows a number that is written short, in lower case, as exponents.
var scales = map[string]string{
	"thousand": "e3", "tsd": "e3", "duizend": "e3", "тыс": "e3", "тысяч": "e3", "tys": "e3",
	"million": "e6", "millions": "e6", "mio": "e6", "mln": "e6", "millionen": "e6", "millones": "e6", "milhões": "e6",
	"milioni": "e6", "miljoen": "e6", "млн": "e6", "миллионов": "e6",
	"billion": "e9", "billions": "e9", "bn": "e9", "mrd": "e9", "milliarden": "e9", "milliards": "e9", "mld": "e9",
	"miljard": "e9", "млрд": "e9", "lakh": "e5", "lakhs": "e5", "crore": "e7", "crores": "e7",
}

// signScales stand right behind the digits: "1.2k", "3.4M", "1.5万". A small m is metres, and a K with a space before it
// kelvins.
var signScales = map[rune]string{'k': "e3", 'K': "e3", 'M': "e6", 'B': "e9", '千': "e3", '천': "e3", '万': "e4", '萬': "e4",
	'만': "e4", '億': "e8", '亿': "e8", '억': "e8"}

// scaleOf returns by which power of ten a number counts that rest follows; empty: by none.
func scaleOf(number, rest string) string {
	r, n := utf8.DecodeRuneInString(rest)
	if e := signScales[r]; e != "" && (r > unicode.MaxLatin1 || !startsWord(rest[n:])) &&
		(r != 'B' || strings.ContainsAny(number, ".,")) { // 512B are bytes
		return e
	}
	word := strings.TrimLeft(rest, " \u00a0\u202f")
	if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = word[:end]
	}
	if len(word) > len("миллионов") {
		return ""
	}
	return scales[strings.ToLower(word)]
}

func startsWord(s string) bool {
	for _, r := range s {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return false
}
