package parser

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/digits"
)

// converter makes a value of a string; false where it is none.
type converter func(s string) (any, bool)

const typeHTML = "html"

var converters = map[string]converter{
	"": toString, "string": toString, "number": toNumber, "integer": toInteger, "bool": toBool, "date": toDate,
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

func toString(s string) (any, bool) {
	s = strings.Join(strings.Fields(s), " ")
	return s, s != ""
}

// toNumber reads the first number in s, whatever stands around it: "$1,234.50", "1.234,50 EUR", "ab 12 %", "१२",
// "1.2k".
func toNumber(s string) (any, bool) {
	number, rest := numberIn(digits.Plain(s))
	if number == "" {
		return nil, false
	}
	f, err := strconv.ParseFloat(plainNumber(number)+scaleOf(number, rest), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, false
	}
	return f, true
}

func toInteger(s string) (any, bool) {
	v, ok := toNumber(s)
	if f, _ := v.(float64); !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, false
	}
	return v, true
}

// numberIn returns the first number in s, a sign, digits, and separators between digits, and what follows it.
func numberIn(s string) (number, after string) {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		return "", ""
	}
	var b strings.Builder
	if before := s[:start]; strings.HasSuffix(before, "-") || strings.HasSuffix(before, "\u2212") {
		b.WriteByte('-')
	}
	rest := []rune(s[start:])
	for i, r := range rest {
		switch {
		case r >= '0' && r <= '9':
			b.WriteRune(r)
		case i+1 < len(rest) && unicode.IsDigit(rest[i+1]) && (r == '.' || r == ','):
			b.WriteRune(r)
		case (unicode.IsSpace(r) || r == '\'' || r == '\u2019') && groupOfThree(rest[i+1:]):
		default:
			return b.String(), string(rest[i:])
		}
	}
	return b.String(), ""
}

// groupOfThree reports whether exactly three digits follow, as behind a separator of thousands.
func groupOfThree(rest []rune) bool {
	n := 0
	for n < len(rest) && unicode.IsDigit(rest[n]) {
		n++
	}
	return n == 3
}

// plainNumber removes separators of thousands and makes the decimal one a point. With both kinds the last is the
// decimal one; a single comma with three digits behind it parts thousands, as does any that is repeated.
func plainNumber(s string) string {
	dots, commas := strings.Count(s, "."), strings.Count(s, ",")
	switch {
	case dots > 0 && commas > 0 && strings.LastIndex(s, ",") > strings.LastIndex(s, "."):
		return strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1)
	case dots > 0 && commas > 0, commas > 1, commas == 1 && len(s)-strings.Index(s, ",") == 4:
		return strings.ReplaceAll(s, ",", "")
	case commas == 1:
		return strings.Replace(s, ",", ".", 1)
	case dots > 1:
		return strings.ReplaceAll(s, ".", "")
	}
	return s
}

func toBool(s string) (any, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "y", "on", "1":
		return true, true
	case "false", "no", "n", "off", "0":
		return false, true
	}
	return nil, false
}

// dateLayouts are tried in order. A date without a zone is taken for UTC; 01/02/2006 is read as in the United States,
// where that form comes from, where it can be.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
	time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC,
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006", "2 January 2006", "Jan 2, 2006 15:04", "Jan 2, 2006",
	"January 2, 2006 15:04", "January 2, 2006", "Monday, January 2, 2006", "Mon, Jan 2, 2006", "Monday, 2 January 2006",
	"Jan 2 2006", "January 2 2006", "2006/1/2 15:04:05", "2006/1/2", "1/2/2006", "2.1.2006", "2.1.2006 15:04", "20060102",
	"2/1/2006", "2-1-2006",
}

// toDate reads a date and writes it as RFC 3339 has it.
func toDate(s string) (any, bool) {
	s = strings.Join(strings.Fields(s), " ")
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(time.RFC3339), true
		}
	}
	if t, ok := dates.Written(s); ok {
		return t.Format(time.RFC3339), true
	}
	return nil, false
}
