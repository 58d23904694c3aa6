package parser

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// wordlist finds keywords in texts: whole words, whatever their case and composition. A keyword may be a phrase, and
// have punctuation: "c++" is not found in "c+".
type wordlist struct {
	first map[string][]*keyword // by their first words
}

// keyword is a word or phrase to be found.
type keyword struct {
	text  string   // as the user wrote it
	words []string // folded
	glue  []string // between the words, white space folded
	lead  string   // punctuation that touches the first word
	trail string   // and the last
}

// maxWord is more than a word of a keyword has, in bytes, however it is written.
const maxWord = 2000

func newWordlist(keywords []string) *wordlist {
	l := &wordlist{first: map[string][]*keyword{}}
	for _, text := range keywords {
		k := &keyword{text: text}
		end := 0
		for start, stop := nextWord(text, 0); start < stop; start, stop = nextWord(text, stop) {
			k.glue = append(k.glue, foldSpace(text[end:start]))
			k.words = append(k.words, foldWord(text[start:stop]))
			end = stop
		}
		if len(k.words) == 0 {
			continue // validation refuses it
		}
		k.lead = k.glue[0][strings.LastIndexByte(k.glue[0], ' ')+1:]
		k.trail, _, _ = strings.Cut(foldSpace(text[end:]), " ")
		l.first[k.words[0]] = append(l.first[k.words[0]], k)
	}
	return l
}

// textBlock is a part of a text around hits.
type textBlock struct {
	start, end int
	count      int
	keywords   []string // of the hits, each once
}

// blocks yields the blocks around the hits in a text, each with a window of so many characters before its first hit and
// as many after it; hits in there are the block's too. Blocks do not overlap.
func (l *wordlist) blocks(text string, window int) iter.Seq[textBlock] {
	return func(yield func(textBlock) bool) {
		var b textBlock
		more := true
		l.hits(text, func(start, end int, k *keyword) bool {
			if b.count == 0 || start >= b.end {
				if b.count > 0 && !yield(b) {
					more = false
					return false
				}
				b = textBlock{start: max(back(text, start, window), b.end), end: forth(text, end, window)}
			}
			b.end, b.count = max(b.end, end), b.count+1
			if !slices.Contains(b.keywords, k.text) {
				b.keywords = append(b.keywords, k.text)
			}
			return true
		})
		if more && b.count > 0 {
			yield(b)
		}
	}
}

// hits calls yield for each hit in a text, in the order in which they begin, until it returns false.
func (l *wordlist) hits(text string, yield func(start, end int, k *keyword) bool) {
	var buf [64]byte
	for start, stop := nextWord(text, 0); start < stop; start, stop = nextWord(text, stop) {
		for _, k := range l.candidates(text[start:stop], buf[:]) {
			if end, ok := k.at(text, start, stop); ok && !yield(start, end, k) {
				return
			}
		}
	}
}

// candidates are the keywords that begin with a word. Words in ASCII, which most are, take no memory.
func (l *wordlist) candidates(word string, buf []byte) []*keyword {
	if len(word) > len(buf) || !isASCII(word) {
		return l.first[foldWord(word)]
	}
	for i := range len(word) {
		buf[i] = word[i]
		if c := word[i]; 'A' <= c && c <= 'Z' {
			buf[i] = c + 'a' - 'A'
		}
	}
	return l.first[string(buf[:len(word)])]
}

// at reports whether the keyword is where its first word is, and where it ends.
func (k *keyword) at(text string, start, stop int) (end int, ok bool) {
	if !strings.HasSuffix(text[:start], k.lead) {
		return 0, false
	}
	end = stop
	for i := 1; i < len(k.words); i++ {
		next, stop := nextWord(text, end)
		if next >= stop || !sameGlue(text[end:next], k.glue[i]) || foldWord(text[next:stop]) != k.words[i] {
			return 0, false
		}
		end = stop
	}
	return end + len(k.trail), strings.HasPrefix(text[end:], k.trail)
}

// nextWord returns where the next word in a text stands, from at on; start is not below stop where there is none.
// Characters of scripts that put no space between words are words by themselves.
func nextWord(text string, at int) (start, stop int) {
	for start = at; start < len(text); {
		r, n := utf8.DecodeRuneInString(text[start:])
		if spaceless(r) {
			return start, start + n
		}
		if inWord(r) {
			break
		}
		start += n
	}
	for stop = start; stop < len(text); {
		r, n := utf8.DecodeRuneInString(text[stop:])
		if !inWord(r) && !unicode.Is(unicode.Cf, r) || spaceless(r) {
			break
		}
		stop += n
	}
	return start, stop
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// foldWord brings a word into the form in which words are compared. Soft hyphens and the like do not count.
func foldWord(word string) string {
	if len(word) > maxWord {
		return ""
	}
	if isASCII(word) {
		return strings.ToLower(word)
	}
	word = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, word)
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(word)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
