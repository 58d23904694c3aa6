// Package dates reads dates as programs and people write them on the web: ISO 8601 and what comes near it, the forms of
// mail and HTTP (RFC 5322, RFC 850, asctime), those of programs (JavaScript, date(1), Unix time), figures as 6.5.2024,
// and months that are written out in 23 languages.
package dates

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/digits"
)

// maxLength bounds what is taken for a date, in bytes.
const maxLength = 100

// Parse reads a whole date, with or without a time: of a text in which nothing else stands. One without a zone is taken
// for UTC; in 1/2/2006 the month comes first, as in the United States, where that form comes from, where it can be one.
func Parse(s string) (time.Time, bool) {
	t, d, ok := parse(s)
	if !ok || d.part {
		return time.Time{}, false
	}
	return t, true
}

// ParseMarkup reads a date that is written for programs: also a month alone, or a year. It takes none that may be read
// in two ways, such as 1/2/2006.
func ParseMarkup(s string) (time.Time, bool) {
	t, d, ok := parse(s)
	if !ok || d.unsure {
		return time.Time{}, false
	}
	return t, true
}

func parse(s string) (t time.Time, d reading, ok bool) {
	if len(s) > maxLength {
		return t, d, false
	}
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} { // most by far
		if t, err := time.Parse(layout, s); err == nil {
			return t, d, true
		}
	}
	if s = plain(s); s == "" {
		return t, d, false
	}
	if t, ok = counted(s); ok {
		return t, d, true
	}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !d.take(word) {
			return t, d, false
		}
	}
	t, ok = d.time()
	if ok && d.year > 2400 && strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Thai, r) }) {
		d.year -= buddhist
		t, ok = d.time()
	}
	return t, d, ok
}

// buddhist is how many years the calendar of Thailand, which writes no other years beside its months, is ahead.
const buddhist = 543

var signs = strings.NewReplacer("年 ", "-", "月 ", "-", "年", "-", "月", "-", "日", " ", "년 ", "-", "월 ", "-", "년", "-",
	"월", "-", "일", " ", "時", ":", "时", ":", "分", " ", "\u2212", "-", "a.m.", "am", "p.m.", "pm")

// plain is a text in lower case, with the digits of ASCII and single spaces, without remarks in brackets and a day of
// the week that a comma follows.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if n, ok := digits.Value(r); ok {
			return '0' + rune(n)
		}
		return r
	}, s)
	s = signs.Replace(strings.ToLower(s))
	if day, rest, ok := strings.Cut(s, ","); ok && !strings.ContainsFunc(day, unicode.IsDigit) &&
		months[strings.TrimSpace(day)] == 0 {
		s = rest
	}
	for _, brackets := range [...]string{"()", "[]"} { // the name of a zone, or a day of the week
		before, rest, ok := strings.Cut(s, brackets[:1])
		if inner, after, closed := strings.Cut(rest, brackets[1:]); ok && closed && strings.TrimSpace(before) != "" &&
			!strings.ContainsFunc(inner, unicode.IsDigit) {
			s = before + " " + after
		}
	}
	if at := strings.LastIndexByte(s, ','); at >= len("4:05") && s[at-len(":05")] == ':' && at+1 < len(s) &&
		unicode.IsDigit(rune(s[at+1])) {
		s = s[:at] + "." + s[at+1:] // 15:04:05,678
	}
	return strings.Join(strings.Fields(s), " ")
}

// counted reads seconds or milliseconds since 1970, from 2001 to 2033, as programs write them, and dates of 12 or 14
// digits.
func counted(s string) (time.Time, bool) {
	if inner, ok := strings.CutPrefix(s, "/date"); ok { // of ASP.NET
		s = strings.Trim(inner, "()/")
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' {
		return time.Time{}, false
	}
	switch {
	case len(s) == len("1072986501") && s[0] == '1':
		return time.Unix(n, 0).UTC(), true
	case len(s) == len("1072986501000") && s[0] == '1':
		return time.UnixMilli(n).UTC(), true
	}
	for _, layout := range [...]string{"20060102150405", "200601021504"} {
		if t, err := time.Parse(layout, s); err == nil && len(s) == len(layout) {
			return t, true
		}
	}
	return time.Time{}, false
}

// reading is what has been read of a date.
type reading struct {
	year, day int
	month     time.Month
	short     int  // a year of two digits, behind day and month, and 1
	part      bool // there is no day, or no month
	unsure    bool // the day may be the month
	weekday   bool
	bare      bool // of the time there is but the hour

	clock
}

// time is the date that has been read.
func (d *reading) time() (time.Time, bool) {
	if d.year == 0 && d.short > 0 && d.timed { // mail of the last century
		if d.year = 1900 + d.short - 1; d.year < 1970 {
			d.year += 100
		}
	}
	if d.year == 0 || d.day > 0 && d.month == 0 || d.bare && !d.halved {
		return time.Time{}, false
	}
	if d.day == 0 {
		if d.timed {
			return time.Time{}, false
		}
		d.part, d.month, d.day = true, max(d.month, 1), 1
	}
	day := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC)
	if day.Day() != d.day || day.Month() != d.month {
		return time.Time{}, false
	}
	if !d.timed {
		return day, true
	}
	zone := time.UTC
	if d.offset != 0 {
		zone = time.FixedZone("", d.offset)
	}
	return time.Date(d.year, d.month, d.day, d.hour, d.minute, d.second, d.nano, zone), true
}

// take reads one word of the date.
func (d *reading) take(word string) bool {
	bare := strings.TrimRight(word, ".-")
	switch month := months[bare]; {
	case month > 0 && d.month == 0:
		d.month = month
		return true
	case d.timed && bare == "am", bare == "pm": // without a time it is German
		return d.halfDay(bare == "pm")
	case bare == "", fillers[bare]:
		return true
	case weekdays[bare] && !d.weekday:
		d.weekday = true
		return true
	case strings.HasSuffix(word, ".") && d.takeMonth(bare):
		return true
	case d.timed && d.takeZone(bare):
		return true
	case d.takeNumber(bare), d.takeFigures(bare):
		return true
	}
	return !d.timed && d.takeTime(bare, d.day > 0)
}

// takeMonth reads the month of "11. 12. 2014".
func (d *reading) takeMonth(word string) bool {
	n, ok := number(word)
	if !ok || n < 1 || n > 12 || len(word) > 2 || d.day == 0 || d.month > 0 || d.year > 0 {
		return false
	}
	d.month = time.Month(n)
	return true
}

// ordinals may end a day or a year: "6th", "1er", "2005г".
var ordinals = [...]string{"st", "nd", "rd", "th", "er", "º", "°", ".", "г"}

// takeNumber reads a day or a year.
func (d *reading) takeNumber(word string) bool {
	for _, end := range ordinals {
		word = strings.TrimSuffix(word, end)
	}
	n, ok := number(word)
	switch {
	case ok && len(word) == len("2006") && d.year == 0:
		d.year = n
	case ok && len(word) <= 2 && n > 0 && d.day == 0:
		d.day = n
	case ok && len(word) == 2 && d.year+d.short == 0 && d.day > 0 && d.month > 0 && !d.timed:
		d.short = n + 1
	case ok && len(word) <= 2 && d.year > 0 && d.day > 0 && d.month > 0 && !d.timed: // "5 pm"
		d.hour, d.timed, d.bare = n, true, true
	default:
		return false
	}
	return true
}

// number reads digits, and nothing else.
func number(s string) (n int, ok bool) {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
