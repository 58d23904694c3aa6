package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// Bounds of a guess, in bytes of text: with less there is nothing to go by, and more costs more than the page.
const (
	minSample      = 60
	commonSample   = 1500 // for common words, about 13 µs
	trigramSample  = 200  // for trigrams, about 400 µs
	minCommonWords = 5    // occurrences that decide
)

// guessLang guesses the language of text; empty where it is too short or nothing is likely. Common words decide for the
// languages that have most pages, as the trigrams that decide for the others take 30 times as long.
func guessLang(text string) string {
	if len(text) < minSample {
		return ""
	}
	if lang := byCommonWords(sample(text, commonSample)); lang != "" {
		return lang
	}
	if japanese(sample(text, commonSample)) {
		return "ja"
	}
	info := whatlanggo.Detect(sample(text, trigramSample))
	if !info.IsReliable() {
		return ""
	}
	if code := info.Lang.Iso6391(); code != "" {
		return code
	}
	return info.Lang.Iso6393()
}

// kanaShare is the share of syllables among the characters of a text that make it Japanese. News have a third and more;
// by trigrams, those with more Chinese characters than syllables are taken for Chinese.
const kanaShare = 0.1

func japanese(text string) bool {
	han, kana := 0, 0
	for _, r := range text {
		switch {
		case r < '\u3041':
		case r <= '\u30FF' && r != '\u30FB':
			kana++
		case r >= '\u4E00' && r <= '\u9FFF':
			han++
		}
	}
	return kana >= minCommonWords && float64(kana) >= kanaShare*float64(han+kana)
}

// sample takes at most size bytes from a third into the text, past titles and bylines.
func sample(text string, size int) string {
	if len(text) <= size {
		return text
	}
	start := min(len(text)/3, len(text)-size)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end := start + size
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[start:end]
}

// commonWords are short words that make up a tenth and more of a text in their language. Words that several languages
// share count for each of them.
var commonWords = [...]struct{ lang, words string }{
	{"en", "the of and to in is that for with are as be this by or it from you not on can was which have an at"},
	{"de", "der die das und ist in den von zu mit sich auf für nicht ein eine dem des im werden auch als wird es an"},
	{"fr", "le la les de des et du en un une est que pour dans qui par sur avec pas au ce sont plus aux il"},
	{"es", "el la los las de y en que un una es por con para se del al como su más no lo o este son"},
	{"it", "il di e la che un una per in con del della è sono non i le da gli nel alla si come anche più dei"},
	{"pt", "o a os as de e que em um uma do da dos das no na para com por não é se ao mais como são"},
	{"nl", "de het een en van in is dat op te voor met zijn niet aan er die ook als door bij naar worden wordt"},
	{"sv", "och att det som en på är av för med till den inte har ett om kan från vid eller jag var"},
	{"da", "og at det som en på er af for med til den ikke har et om kan fra ved eller jeg der"},
	{"nb", "og å det som en på er av for med til den ikke har et om kan fra ved eller jeg var"},
	{"fi", "ja on ei se että oli ovat joka mutta myös kuin tai hän sen voi sekä ole"},
	{"pl", "i w na z do się nie jest że o od przez dla jak po są to za oraz lub ale"},
	{"cs", "a v na se je že s z do o pro jsou by to jako k za od nebo které který ale"},
	{"hu", "a az és hogy nem is egy van meg ez de csak már vagy el mint volt"},
	{"ro", "de și în la cu nu a este o pe care din să un pentru mai că au sunt"},
	{"tr", "ve bir bu için de da ile olarak çok daha olan gibi kadar en ne var"},
	{"id", "yang dan di untuk dengan dari ini itu pada tidak adalah dalam akan ke oleh atau"},
	{"ru", "и в не на что с по как это для из от к а у о но при его или"},
	{"uk", "і в не на що з та у як це для від до є за про його або але при"},
}

// wordLangs maps a word to the languages that it is common in, a bit each.
var wordLangs = func() map[string]uint32 {
	m := map[string]uint32{}
	for i := range commonWords {
		for w := range strings.FieldsSeq(commonWords[i].words) {
			m[w] |= 1 << i
		}
	}
	return m
}()

// byCommonWords returns the language whose common words are at least a tenth of the text's words and half as many
// again as any other language's; else nothing.
func byCommonWords(text string) string {
	var hits [len(commonWords)]int
	words := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		words++
		if len(w) > 12 { // longer than any of them
			continue
		}
		set := wordLangs[strings.ToLower(w)]
		for i := 0; set != 0; i, set = i+1, set>>1 {
			hits[i] += int(set & 1)
		}
	}
	best, second := 0, 1
	if hits[second] > hits[best] {
		best, second = second, best
	}
	for i := 2; i < len(hits); i++ {
		switch {
		case hits[i] > hits[best]:
			best, second = i, best
		case hits[i] > hits[second]:
			second = i
		}
	}
	if hits[best] < minCommonWords || 10*hits[best] < words || 2*hits[best] < 3*hits[second] {
		return ""
	}
	return commonWords[best].lang
}
