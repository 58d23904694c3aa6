package cookies

import (
	"strings"
	"time"
	"unicode/utf8"
)

// setCookie is what a Set-Cookie line says (RFC 6265, 5.2, with the bounds of its successor, 6265bis, 5.6).
type setCookie struct {
	name, value, domain, path string
	secure, hasMaxAge         bool
	maxAge                    int64
	expires                   time.Time
}

// maxAttribute is how long the value of an attribute may be, in bytes: longer ones are passed over (6265bis, 5.6).
const maxAttribute = 1024

// parseSetCookie reads a line; ok is false where it sets nothing. What is not UTF-8 sets nothing, since jars are stored
// as text.
func parseSetCookie(line string) (s setCookie, ok bool) {
	if !utf8.ValidString(line) || strings.ContainsFunc(line,
		func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return s, false
	}
	pair, rest, _ := strings.Cut(line, ";")
	name, value, found := strings.Cut(pair, "=")
	if !found { // a cookie without a name, which browsers send as it came
		name, value = "", pair
	}
	s.name, s.value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	if s.name == "" && (s.value == "" || likeNamed(s.value)) {
		return s, false
	}
	for attribute := range strings.SplitSeq(rest, ";") {
		key, v, _ := strings.Cut(attribute, "=")
		if v = strings.Trim(v, " \t"); len(v) <= maxAttribute {
			s.set(strings.ToLower(strings.Trim(key, " \t")), v)
		}
	}
	return s, true
}

// likeNamed reports whether a value without a name would be sent as one that has a name, or one with a prefix that
// tells how it was set (6265bis, 5.7).
func likeNamed(value string) bool {
	value = strings.ToLower(value)
	return strings.Contains(value, "=") || strings.HasPrefix(value, secureName) || strings.HasPrefix(value, hostName)
}

// set applies an attribute. Of one that stands twice the last counts.
func (s *setCookie) set(key, v string) {
	switch key {
	case "expires":
		if t, ok := cookieDate(v); ok {
			s.expires = t
		}
	case "max-age":
		if n, ok := maxAge(v); ok {
			s.maxAge, s.hasMaxAge = n, true
		}
	case "domain":
		s.domain = v
	case "path":
		s.path = v
	case "secure":
		s.secure = true
	}
}

// maxAge reads the seconds of Max-Age; what is more than 2^31 counts as that.
func maxAge(v string) (n int64, ok bool) {
	digits := strings.TrimPrefix(v, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	for _, c := range digits {
		n = min(n*10+int64(c-'0'), 1<<31)
	}
	if v[0] == '-' {
		n = -n
	}
	return n, true
}

// cookieDate reads a date as RFC 6265, 5.1.1 has it.
func cookieDate(s string) (time.Time, bool) {
	clock, day, month, year := [3]int{-1}, 0, 0, -1
	for tok := range strings.FieldsFuncSeq(s, partsDate) {
		n, digits := number(tok)
		switch {
		case clock[0] < 0 && isClock(tok, &clock):
		case day == 0 && (digits == 1 || digits == 2):
			day = n
		case month == 0 && monthOf(tok) > 0:
			month = monthOf(tok)
		case year < 0 && digits >= 2:
			year = n
		}
	}
	switch {
	case 70 <= year && year <= 99:
		year += 1900
	case 0 <= year && year <= 69:
		year += 2000
	}
	if clock[0] < 0 || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 || day < 1 || day > 31 || month == 0 ||
		year < 1601 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, clock[0], clock[1], clock[2], 0, time.UTC)
	return t, t.Day() == day
}

// partsDate reports whether a character parts the tokens of a date.
func partsDate(r rune) bool {
	return r == '\t' || ' ' <= r && r <= '/' || ';' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
}

// number reads the digits that a token starts with; digits is 0 where more digits than four follow.
func number(tok string) (n, digits int) {
	for digits < len(tok) && '0' <= tok[digits] && tok[digits] <= '9' {
		if n, digits = n*10+int(tok[digits]-'0'), digits+1; digits > 4 {
			return 0, 0
		}
	}
	return n, digits
}

// isClock reads hours, minutes and seconds.
func isClock(tok string, clock *[3]int) bool {
	parts := strings.SplitN(tok, ":", 3)
	if len(parts) != 3 {
		return false
	}
	var c [3]int
	for i, p := range parts {
		n, digits := number(p)
		if digits < 1 || digits > 2 || i < 2 && digits != len(p) {
			return false
		}
		c[i] = n
	}
	*clock = c
	return true
}

// monthOf is the month that a token begins with, 1 to 12; 0: none.
func monthOf(tok string) int {
	if len(tok) < 3 {
		return 0
	}
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(tok[:3]))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}
