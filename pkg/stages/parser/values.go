package parser

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/digits"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/xpath"
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
		return xpath.Number(v)
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
	if isWhole(rest) && len(number)-strings.LastIndexByte(number, '.') == len(".299") {
		number = strings.ReplaceAll(number, ".", "")
	}
	f, err := strconv.ParseFloat(plainNumber(number)+scaleOf(number, rest), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, false
	}
	return f, true
}

// isWhole reports whether what follows a number says that it has no decimals: "1.299,-".
func isWhole(rest string) bool {
	rest, ok := strings.CutPrefix(rest, ",")
	return ok && (strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "\u2013") || strings.HasPrefix(rest, "\u2014"))
}

func toInteger(s string) (any, bool) {
	v, ok := toNumber(s)
	if f, _ := v.(float64); !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, false
	}
	return v, true
}

// numberIn returns the first number in s, and what follows it: a sign, which may be before a currency's, digits, and
// separators between digits. A point before the digits is a decimal one where nothing else is before it: ".75", but
// not "No.5".
func numberIn(s string) (number, after string) {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		return "", ""
	}
	var b strings.Builder
	before, pointed := strings.CutSuffix(s[:start], ".")
	last, _ := utf8.DecodeLastRuneInString(before)
	pointed = pointed && (before == "" || last != '.' && !unicode.IsLetter(last) && !unicode.IsPunct(last) || last == '-')
	if unicode.Is(unicode.Sc, last) {
		before = before[:len(before)-utf8.RuneLen(last)]
	}
	if strings.HasSuffix(before, "-") || strings.HasSuffix(before, "\u2212") {
		b.WriteByte('-')
	}
	if pointed {
		b.WriteString("0.")
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
// decimal one; a single comma with three digits behind it parts thousands, if one to three are before it and no zero
// first, as does any that is repeated.
func plainNumber(s string) string {
	dots, commas := strings.Count(s, "."), strings.Count(s, ",")
	switch {
	case dots > 0 && commas > 0 && strings.LastIndex(s, ",") > strings.LastIndex(s, "."):
		return strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1)
	case dots > 0 && commas > 0, commas > 1, commas == 1 && partsThousands(s):
		return strings.ReplaceAll(s, ",", "")
	case commas == 1:
		return strings.Replace(s, ",", ".", 1)
	case dots > 1:
		return strings.ReplaceAll(s, ".", "")
	}
	return s
}

// partsThousands reports whether the comma of a number can only part thousands, or as well.
func partsThousands(s string) bool {
	before, after, _ := strings.Cut(strings.TrimPrefix(s, "-"), ",")
	return len(after) == 3 && len(before) <= 3 && before[0] != '0'
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

// toDate reads a date and writes it as RFC 3339 has it.
func toDate(s string) (any, bool) {
	t, ok := dates.Parse(strings.Join(strings.Fields(s), " "))
	if !ok {
		return nil, false
	}
	return t.Format(time.RFC3339), true
}
