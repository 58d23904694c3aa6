package dates

import (
	"strings"
	"time"
)

// takeFigures reads a date whose parts stand together: 2006-01-02, 2006/1/2, 2.1.2006, 02-Jan-06, 20060102, 2006-W01-1,
// and behind it what a "t" parts from it.
func (d *reading) takeFigures(word string) bool {
	if d.year+d.day+int(d.month) > 0 {
		return false
	}
	if at := strings.IndexByte(word, 't'); at >= len("2006-1-2") && word[at-1] >= '0' && word[at-1] <= '9' {
		rest := word[at+1:]
		return d.takeFigures(word[:at]) && (rest == "" || d.takeTime(apart(rest), true))
	}
	if len(word) == len("20060102") {
		if t, err := time.Parse("20060102", word); err == nil {
			d.set(t)
			return true
		}
	}
	sep := strings.IndexAny(word, "-/.")
	if sep < 0 {
		return false
	}
	parts := strings.Split(word, word[sep:sep+1])
	switch {
	case len(parts[0]) == len("2006"):
		return d.yearFirst(parts, word)
	case len(parts) == 3 && strings.Trim(parts[1], "0123456789") != "":
		month := months[parts[1]]
		if month == 0 || !d.takeNumber(parts[0]) {
			return false
		}
		d.month = month
		return d.takeNumber(parts[2])
	case len(parts) == 3 && len(parts[2]) == len("2006"):
		return d.yearLast(parts, word[sep])
	case len(word) == len("26.10.13") && len(parts) == 3 && len(parts[2]) == 2 && len(parts[0]) == 2 && word[sep] == '.':
		parts[2] = century(parts[2]) + parts[2]
		return d.yearLast(parts, '.')
	}
	return false
}

// century is that of a year of two digits.
func century(year string) string {
	if year >= "70" {
		return "19"
	}
	return "20"
}

func (d *reading) set(t time.Time) { d.year, d.month, d.day = t.Year(), t.Month(), t.Day() }

// yearFirst reads the parts of 2006-01-02, 2006-01, 2006-002 and 2006-W01-1. A zone behind the date (XML Schema) is
// passed over: the day is what its author meant.
func (d *reading) yearFirst(parts []string, word string) bool {
	year, ok := number(parts[0])
	if !ok {
		return false
	}
	last := &parts[len(parts)-1]
	*last = strings.TrimSuffix(*last, "z")
	if day, zone, found := strings.Cut(*last, "+"); found && len(parts) == 3 && strings.Contains(zone, ":") {
		*last = day
	}
	if len(parts) == 4 && strings.Contains(parts[3], ":") { // 2006-01-02-05:00
		parts = parts[:3]
	}
	if rest, week := strings.CutPrefix(parts[1], "w"); week {
		return d.weekOf(year, rest, parts[2:])
	}
	month, ok := number(parts[1])
	switch {
	case !ok:
		return false
	case len(parts) == 2 && len(parts[1]) == len("002"):
		t := time.Date(year, 1, month, 0, 0, 0, 0, time.UTC)
		d.set(t)
		return month > 0 && t.Year() == year
	case month < 1 || month > 12 || len(parts[1]) > 2 || len(parts) > 3:
		return false
	case len(parts) == 3:
		if d.day, ok = number(parts[2]); !ok || d.day < 1 || len(parts[2]) > 2 {
			return false
		}
	case word[len("2006")] == '.':
		return false // a number
	}
	d.year, d.month = year, time.Month(month)
	return true
}

// weekOf reads a week of ISO 8601: the first is that of 4 January.
func (d *reading) weekOf(year int, week string, rest []string) bool {
	w, ok := number(week)
	day := 1
	if len(rest) == 1 && ok {
		day, ok = number(rest[0])
	}
	if !ok || w < 1 || w > 53 || day < 1 || day > 7 || len(rest) > 1 {
		return false
	}
	first := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := first.AddDate(0, 0, -(int(first.Weekday())+6)%7)
	d.set(monday.AddDate(0, 0, 7*(w-1)+day-1))
	return true
}

// yearLast reads the parts of 2.1.2006, 2-1-2006 and 1/2/2006.
func (d *reading) yearLast(parts []string, sep byte) bool {
	a, ok1 := number(parts[0])
	b, ok2 := number(parts[1])
	year, ok3 := number(parts[2])
	if !ok1 || !ok2 || !ok3 || a < 1 || b < 1 || len(parts[0]) > 2 || len(parts[1]) > 2 {
		return false
	}
	d.unsure = sep != '.' && a <= 12 && b <= 12 && a != b
	if sep == '/' && a <= 12 || sep == '-' && a <= 12 && b > 12 {
		a, b = b, a // the month stands first
	}
	if b > 12 {
		return false
	}
	d.year, d.month, d.day = year, time.Month(b), a
	return true
}
