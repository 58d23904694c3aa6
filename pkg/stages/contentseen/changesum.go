package contentseen

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ChangeSum identifies what a page says, for telling whether it changed between two visits: its title, its main text,
// its fields and the URLs of its links within its domain. What changes at each look does not count: words with digits,
// dates and ages ("3 minutes ago", "12 May") are alike, the order of links is none, and digits and tokens in the
// queries of links are alike. Fields that rules took from the page count as they are, and so do the dates in a sitemap
// or a feed.
//
// The upper half is a hash; the lower one is half of the simhash of the text, so [Near] can be asked of two sums. The
// sum is never 0.
func ChangeSum(d *crawl.Document) uint64 {
	text := foldText(d.Title + "\n" + d.Text)
	h := xxh3.HashString(text)
	for i := range d.Fields {
		h = h*31 + xxh3.HashString(fmt.Sprintf("%q %v", d.Fields[i].Name, d.Fields[i].Value))
	}
	h = h*31 + linksOf(d)
	simhash, _, _ := Fingerprint(text)
	return max(h&^0xffffffff|simhash&0xffffffff, 1)
}

// nearBits is how many of the 32 bits may differ in sums of pages that are almost the same: as many as are in half of
// less than four of 64.
const nearBits = 1

// Near reports whether the texts of two sums differ little.
func Near(a, b uint64) bool {
	return a != 0 && b != 0 && bits.OnesCount32(uint32(a)^uint32(b)) <= nearBits
}

// linksOf is the sum of the links within the domain of a page.
func linksOf(d *crawl.Document) uint64 {
	domain := d.Page.Task.URL.RegistrableDomain()
	sums := make([]uint64, 0, len(d.Links))
	for i := range d.Links {
		if u := d.Links[i].URL; !u.IsZero() && u.RegistrableDomain() == domain {
			path, query, _ := strings.Cut(u.String(), "?")
			sum := xxh3.HashString(foldParams(path) + "?" + foldQuery(query))
			if at := d.Links[i].Told; !at.IsZero() {
				sum += uint64(at.Unix()) * oddSum
			}
			sums = append(sums, sum)
		}
	}
	slices.Sort(sums)
	b := make([]byte, 0, 8*len(sums))
	for _, s := range slices.Compact(sums) {
		b = binary.BigEndian.AppendUint64(b, s)
	}
	return xxh3.Hash(b)
}

const oddSum = 0x9e3779b97f4a7c15

// foldQuery is a query without its digits, and without values that are made anew for each visitor, such as tokens.
func foldQuery(query string) string {
	parts := strings.Split(query, "&")
	for i, p := range parts {
		if key, value, ok := strings.Cut(p, "="); ok && isToken(value) {
			parts[i] = key + "="
		}
	}
	return strings.Map(foldDigit, strings.Join(parts, "&"))
}

// foldParams is a path without such values of its parameters, as in /a;jsessionid=0A1B….
func foldParams(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	parts := strings.Split(path, ";")
	for i, p := range parts[1:] {
		value, rest, _ := strings.Cut(p, "/")
		if key, token, ok := strings.Cut(value, "="); ok && isToken(token) {
			parts[i+1] = key + "=/" + rest
		}
	}
	return strings.Join(parts, ";")
}

// How long a token is at least, and how often letters and digits take turns in it.
const (
	leastToken = 16
	leastTurns = 4
)

// isToken reports whether a value looks as if chance had made it: 9f86d081884c7d65, and not how-to-install-python-3.
func isToken(value string) bool {
	if len(value) < leastToken {
		return false
	}
	turns, last := 0, false
	for i, r := range value {
		digit := r >= '0' && r <= '9'
		if !digit && (r|0x20 < 'a' || r|0x20 > 'z') {
			continue
		}
		if i > 0 && digit != last {
			turns++
		}
		last = digit
	}
	return turns >= leastTurns
}

func foldDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// foldText is the words of a text in lower case, where each run of words that tell a time or have a digit is one "0",
// with the word before it that says how much of it: "an hour ago" is as "3 hours ago".
func foldText(text string) string {
	b := make([]byte, 0, len(text))
	zero := false
	last, howMuch := 0, false // where the last word begins in b, and whether it may say how much
	for word := range wordsOf(text) {
		if tellsTime(word) {
			if howMuch {
				b, zero = b[:last], strings.HasSuffix(string(b[max(last-2, 0):last]), " 0")
			}
			if !zero {
				b = append(b, " 0"...)
			}
			zero, howMuch = true, false
			continue
		}
		zero, last = false, len(b)
		b = append(b, ' ')
		for _, r := range word {
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
		howMuch = len(b)-last <= longestMuch+1 && muches[string(b[last+1:])]
	}
	return string(b)
}

const longestMuch = 6

// muches are words that are before a time and say how much of it.
var muches = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`a an one two three four five six seven eight nine ten eleven twelve just
		ein eine einem einer zwei drei vier un une deux trois quatre una dos tres due tre`) {
		words[w] = true
	}
	return words
}()

// wordsOf are the words of a text, in their order.
func wordsOf(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// tellsTime reports whether a word has a digit, or is one that dates and ages are made of.
func tellsTime(word string) bool {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return true
	}
	return len(word) <= longestTime && times[strings.ToLower(word)]
}

const longestTime = 12

// times are the names of months and days, and what ages are told with, in the languages that most pages are in. Words
// that mean something else as well count as little as a digit does.
var times = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`january february march april may june july august september october november december
		jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
		mon tue tues wed thu thur thurs fri sat sun am pm utc gmt cet cest est edt pst pdt ago today yesterday
		second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years
		now moment moments
		januar februar märz mai juni juli oktober dezember okt dez montag dienstag mittwoch donnerstag freitag samstag sonntag
		uhr vor sekunden minuten stunde stunden tag tagen tage woche wochen monat monaten jahr jahren heute gestern
		janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi
		samedi dimanche heures heure jours jour semaine semaines mois aujourd hier
		enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves
		viernes sábado domingo hace horas hora días día semana semanas hoy ayer
		gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì mercoledì giovedì venerdì sabato
		domenica ore ora giorni giorno settimana settimane oggi ieri`) {
		words[w] = true
	}
	return words
}()
