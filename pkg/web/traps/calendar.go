package traps

import (
	"slices"
	"strings"
)

// farDate reports whether a generated calendar shows a year more than c.CalendarYears from this one.
//
// A date alone proves nothing: /2009/05/ is somebody's archive and ?year=1998 lists cars. So a date in the path counts
// only beside a segment such as "calendar" or "events", and a past one only at the end of the path, as a day's page
// of a calendar ends there and an old event's does not. A date in the query counts under a key such as year, month or
// date; a past one only if a segment or a key says calendar.
func (c Config) farDate(segments []string, query string, thisYear int) bool {
	far := func(year int) bool { return year > thisYear+c.CalendarYears }
	past := func(year int) bool { return year < thisYear-c.CalendarYears }
	if d, ok := pathDate(segments); ok && (far(d.year) || past(d.year) && d.last) && marked(segments) {
		return true
	}
	if query == "" {
		return false
	}
	year, ok := queryDate(query)
	return ok && (far(year) || past(year) && (keysSayCalendar(query) || marked(segments)))
}

// segmentDate is a date in a path.
type segmentDate struct {
	year int
	last bool // nothing follows it
}

// pathDate finds a date: 2031/05, 2031/5/17, 05/2031, 2031-05, 2031-05-17, 20310517, or a year right after the segment
// "calendar" or "cal".
func pathDate(segments []string) (segmentDate, bool) {
	for i, s := range segments {
		if !startsWithDigit(s) {
			continue
		}
		if year, ok := dateYear(s); ok {
			return segmentDate{year, i == len(segments)-1}, true
		}
		year, ok := yearOf(s)
		if !ok {
			continue
		}
		end := i + 1
		for end < len(segments) && end < i+3 && isPartOfYear(segments[end]) {
			end++
		}
		if end > i+1 || i > 0 && (isPartOfYear(segments[i-1]) || isCalendar(segments[i-1])) {
			return segmentDate{year, end == len(segments)}, true
		}
	}
	return segmentDate{}, false
}

func startsWithDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// yearOf reads a year of four digits. Numbers below 1000 or beyond 2999 are ids, not years.
func yearOf(s string) (int, bool) {
	year, digits := number(s)
	return year, len(s) == 4 && digits == 4 && 1000 <= year && year <= 2999
}

// isPartOfYear reports whether s may be a month, a day or a week.
func isPartOfYear(s string) bool {
	n, digits := number(s)
	return digits == len(s) && digits <= 2 && 1 <= n && n <= 53
}

// dateYear reads the year of a whole date: 2031-05, 2031-05-17 and what follows it (a time), 2031/05/17, 20310517,
// 17.05.2031.
func dateYear(s string) (int, bool) {
	_, digits := number(s)
	switch {
	case digits == 8 && len(s) == 8:
		year, ok := yearOf(s[:4])
		return year, ok && isMonthDay(s[4:6], s[6:8])
	case digits == 4 && len(s) >= 7 && isSeparator(s[4]):
		year, ok := yearOf(s[:4])
		month, n := number(s[5:])
		return year, ok && n <= 2 && 1 <= month && month <= 12
	case digits > 0 && digits <= 2 && len(s) >= 8:
		return trailingYear(s[digits:])
	}
	return 0, false
}

// trailingYear reads the year behind the second number of a date that starts with day or month: ".05.2031".
func trailingYear(s string) (int, bool) {
	part, digits := number(s[1:])
	if !isSeparator(s[0]) || digits == 0 || digits > 2 || part > 31 {
		return 0, false
	}
	rest := s[1+digits:]
	if len(rest) != 5 || rest[0] != s[0] {
		return 0, false
	}
	return yearOf(rest[1:])
}

func isSeparator(c byte) bool { return c == '-' || c == '.' || c == '/' || c == '_' }

func isMonthDay(month, day string) bool {
	m, _ := number(month)
	d, _ := number(day)
	return 1 <= m && m <= 12 && 1 <= d && d <= 31
}

// queryDate finds a year or a date under a key that names one.
func queryDate(query string) (year int, ok bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if len(value) < len("2031") || !startsWithDigit(value) {
			continue
		}
		if !hasWord(key, "year", "yr", "month", "week", "day", "date", "cal", "calendar") {
			continue
		}
		if year, ok = yearOf(value); ok {
			return year, true
		}
		if year, ok = dateYear(strings.ReplaceAll(value, "%2F", "/")); ok {
			return year, true
		}
	}
	return 0, false
}

// keysSayCalendar reports whether a key of the query has the word calendar in it: cal_year, calendar[date].
func keysSayCalendar(query string) bool {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if key, _, _ := strings.Cut(pair, "="); hasWord(key, "cal", "calendar") {
			return true
		}
	}
	return false
}

// marked reports whether a segment names a calendar or a list of events.
func marked(segments []string) bool {
	return slices.ContainsFunc(segments, func(s string) bool {
		return hasWord(s, "cal", "calendar", "calendars", "event", "events", "agenda", "kalender", "calendrier", "calendario")
	})
}

// isCalendar reports whether a segment is the name of a calendar and nothing else.
func isCalendar(segment string) bool {
	return isOneOf(segment, "cal", "calendar", "kalender", "calendrier", "calendario")
}

// hasWord reports whether one of the words is in s between characters that are no letters: tribe-bar-date.
func hasWord(s string, words ...string) bool {
	for s != "" {
		end := 0
		for end < len(s) && isLetter(s[end]) {
			end++
		}
		if isOneOf(s[:end], words...) {
			return true
		}
		s = s[min(end+1, len(s)):]
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isOneOf(word string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}
