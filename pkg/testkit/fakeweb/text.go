package fakeweb

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language is what sentences of a host are made of: its commonest words, and the syllables of all others.
type language struct {
	code      string
	common    []string
	onsets    []string
	nuclei    []string
	codas     []string
	sentences int // in the pool, a power of two
}

func languages() []language {
	f := strings.Fields
	return []language{
		{
			code: "en",
			common: f("the of and to in is that for it with as was on be by at this from or are an have not but which all " +
				"were they one their has there been if more when will would who so no out up into than them some could time " +
				"these two may then do first any new like our over such only its other about after most also made well before " +
				"must through years where much your way down should because each just those people how too good very make world " +
				"still own see work long get here between both life being under never day same another know while last might us " +
				"great old year off come since against go came right used take three"),
			onsets: f("b br c ch cl d dr f fl g gr h j k l m n p pl qu r s sh sl st t th tr v w"),
			nuclei: f("a e i o u ai ea ee oa ou y"),
			codas:  f("n r s t l m nd st ng ck ll rt sh"), sentences: 1 << 14,
		},
		{
			code: "de",
			common: f("der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus " +
				"er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur " +
				"bis mehr durch man sein wurde sei"),
			onsets: f("b bl d dr f g gr h k kl l m n p pf r s sch sp st t tr v w z"),
			nuclei: f("a e i o u ä ö ü ei au ie eu"),
			codas:  f("n r s t l m ch ng rt cht nd"), sentences: 1 << 12,
		},
		{
			code: "fr",
			common: f("de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec " +
				"son aux d'un cette d'une ont ses mais comme on tout nous sa fait été aussi leur bien peut ces y deux si ou"),
			onsets: f("b bl c ch d f g gl j l m n p pl qu r s t tr v"),
			nuclei: f("a e i o u é è ê ai eau oi ou"),
			codas:  f("n r s t l x que tion ment ge"), sentences: 1 << 12,
		},
		{
			code: "ru",
			common: f("и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой что весь год от " +
				"так о для ты же все тот мочь вы человек такой его сказать только или ещё бы себя один как уже до время если сам " +
				"когда другой вот"),
			onsets: f("б в г д ж з к л м н п р с т ф х ц ч ш ст пр тр"),
			nuclei: f("а е и о у ы я ю"),
			codas:  f("н р с т л м к й ть сть ние"), sentences: 1 << 12,
		},
	}
}

// appendWord spells the word with number id: two to four syllables, the same letters for the same number.
func (l *language) appendWord(dst []byte, id uint64) []byte {
	s := stream(id)
	for n := 2 + s.below(3); n > 0; n-- {
		r := s.next()
		dst = append(dst, pick(l.onsets, r)...)
		dst = append(dst, pick(l.nuclei, r>>16)...)
		if n == 1 || r>>63 == 0 {
			dst = append(dst, pick(l.codas, r>>32)...)
		}
	}
	return dst
}

// pick chooses by the low 16 bits of r.
func pick(from []string, r uint64) string { return from[r&0xffff*uint64(len(from))>>16] }

// pool holds ready sentences of one language, so that a page is stitched together and not composed.
type pool struct {
	lang *language
	text []byte
	ends []uint32
}

// rareWords is the size of a language's vocabulary beyond its common words. It is large so that two pages share few
// of them, as on the real web; with a thousand words every long page has the same ones, and near-duplicate detection
// by word sets would take distinct pages for copies.
const rareWords = 50_000

// sentenceBytes is a little more than a sentence has on average, Cyrillic letters being two bytes.
const sentenceBytes = 200

func newPool(seed uint64, l *language) *pool {
	p := &pool{lang: l, ends: make([]uint32, l.sentences), text: make([]byte, 0, l.sentences*sentenceBytes)}
	s := stream(hash(seed, purposePool, uint64(l.sentences), uint64(len(l.common))))
	for i := range p.ends {
		p.text = p.appendSentence(p.text, &s)
		p.ends[i] = uint32(len(p.text))
	}
	return p
}

// sentence returns sentence i modulo the size of the pool, with a blank at its end.
func (p *pool) sentence(i uint64) []byte {
	i &= uint64(len(p.ends) - 1)
	from := uint32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	return p.text[from:p.ends[i]]
}

func (p *pool) appendSentence(dst []byte, s *stream) []byte {
	start := len(dst)
	words := 8 + s.below(13)
	for i := range words {
		dst = p.appendDrawn(dst, s)
		switch {
		case i == words-1:
			dst = append(dst, ". "...)
		case s.below(14) == 0:
			dst = append(dst, ", "...)
		case s.below(120) == 0:
			dst = append(dst, " &amp; "...)
		case s.below(200) == 0:
			dst = append(dst, "&nbsp;&mdash; "...)
		default:
			dst = append(dst, ' ')
		}
	}
	return capitalise(dst, start)
}

// appendDrawn draws a word: every fourth is a common one, the others follow a steep but long-tailed distribution.
func (p *pool) appendDrawn(dst []byte, s *stream) []byte {
	if s.below(4) == 0 {
		u := s.unit()
		return append(dst, p.lang.common[int(u*u*float64(len(p.lang.common)))]...)
	}
	u := s.unit()
	id := uint64(u * math.Sqrt(u) * rareWords)
	switch s.below(60) {
	case 0:
		dst = p.lang.appendWord(append(dst, "<em>"...), id)
		return append(dst, "</em>"...)
	case 1:
		dst = p.lang.appendWord(append(dst, "<strong>"...), id)
		return append(dst, "</strong>"...)
	}
	return p.lang.appendWord(dst, id)
}

// capitalise makes the first letter after start a capital, where that keeps its length in bytes.
func capitalise(dst []byte, start int) []byte {
	r, n := utf8.DecodeRune(dst[start:])
	if up := unicode.ToUpper(r); utf8.RuneLen(up) == n {
		utf8.EncodeRune(dst[start:], up)
	}
	return dst
}

// appendEdited copies a sentence with about one word in a hundred replaced by another; s decides which. With must,
// the first plain word is replaced, so that a short text is not left as it was.
func (p *pool) appendEdited(dst, sentence []byte, s *stream, must bool) []byte {
	for len(sentence) > 0 {
		n := 0
		for n < len(sentence) && sentence[n] != ' ' {
			n++
		}
		if word := sentence[:n]; plainWord(word) && (must || s.below(80) == 0) {
			must = false
			dst = p.lang.appendWord(dst, s.next())
		} else {
			dst = append(dst, word...)
		}
		if n < len(sentence) {
			dst = append(dst, ' ')
			n++
		}
		sentence = sentence[n:]
	}
	return dst
}

// plainWord says whether a token is only lower-case letters, so that it can be replaced without touching markup.
func plainWord(w []byte) bool {
	for _, c := range w {
		if c < 'a' || c > 'z' && c < 0x80 {
			return false
		}
	}
	return len(w) > 0
}
