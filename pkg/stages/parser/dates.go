package parser

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// monthNames are those of twelve months in languages in which many pages write them out, English first; names that
// differ within a language are parted by strokes.
var monthNames = [...]string{
	"january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct " +
		"november/nov december/dec",
	"januar/jänner februar/feber märz/mär/mrz april mai juni juli august september oktober/okt november dezember/dez",
	"janvier/janv février/févr/fév mars avril/avr mai juin juillet/juil août septembre octobre novembre décembre/déc",
	"enero/ene febrero marzo abril/abr mayo junio julio agosto/ago septiembre/setiembre octubre noviembre diciembre/dic",
	"gennaio/gen febbraio marzo aprile maggio/mag giugno/giu luglio/lug agosto settembre/set ottobre/ott novembre " +
		"dicembre",
	"janeiro fevereiro/fev março abril maio/mai junho julho agosto setembro outubro/out novembro dezembro",
	"januari februari maart/mrt april mei juni juli augustus september oktober november december",
	"januari februari mars april maj juni juli augusti september oktober november december",
	"stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
	"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}

var months = func() map[string]time.Month {
	all := map[string]time.Month{}
	for _, names := range monthNames {
		for i, month := range strings.Fields(names) {
			for name := range strings.SplitSeq(month, "/") {
				all[name] = time.Month(i + 1)
			}
		}
	}
	return all
}()

// dateWords may stand between the parts of a date.
var dateWords = map[string]bool{"de": true, "del": true, "of": true, "at": true, "the": true, "um": true, "uhr": true,
	"le": true, "à": true, "alle": true, "às": true, "den": true, "kl": true, "om": true, "г": true}

// ordinals may end a day: "6th", "1er".
var ordinals = [...]string{"st", "nd", "rd", "th", "er", "º", "°"}

// writtenDate is a date whose month is written out, with or without a time.
type writtenDate struct {
	year, day, hour, minute, second int
	month                           time.Month
	timed                           bool
}

// parseWritten reads a date as people write it: "Monday, 6th May 2024 at 3:04 PM", "6. Mai 2024", "2024年5月6日".
func parseWritten(s string) (time.Time, bool) {
	s = strings.ToLower(strings.NewReplacer("年", "-", "月", "-", "日", " ").Replace(s))
	if t, err := time.Parse("2006-1-2", strings.TrimSpace(s)); err == nil {
		return t, true
	}
	if day, rest, ok := strings.Cut(s, ","); ok && !strings.ContainsFunc(day, unicode.IsDigit) && months[day] == 0 {
		s = rest // a day of the week
	}
	var d writtenDate
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !d.take(strings.TrimSuffix(word, ".")) {
			return time.Time{}, false
		}
	}
	t := time.Date(d.year, d.month, d.day, d.hour, d.minute, d.second, 0, time.UTC)
	return t, d.year > 0 && d.day > 0 && d.month > 0 && t.Day() == d.day
}

// take reads one word of the date.
func (d *writtenDate) take(word string) bool {
	switch month := months[word]; {
	case month > 0 && d.month == 0:
		d.month = month
		return true
	case dateWords[word]:
		return true
	case word == "am", word == "pm":
		return d.halfDay(word == "pm")
	case strings.Contains(word, ":"):
		return d.takeTime(word)
	}
	for _, end := range ordinals {
		word = strings.TrimSuffix(word, end)
	}
	n, err := strconv.Atoi(word)
	switch {
	case err == nil && len(word) == len("2006") && d.year == 0:
		d.year = n
	case err == nil && len(word) <= 2 && n > 0 && d.day == 0:
		d.day = n
	default:
		return false
	}
	return true
}

func (d *writtenDate) takeTime(word string) bool {
	clock, ok := strings.CutSuffix(word, "pm")
	half := ok
	if !ok {
		clock, half = strings.CutSuffix(word, "am")
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, clock); err == nil && !d.timed {
			d.hour, d.minute, d.second, d.timed = t.Hour(), t.Minute(), t.Second(), true
			return !half || d.halfDay(ok)
		}
	}
	return false
}

// halfDay makes the hour one of 24.
func (d *writtenDate) halfDay(after bool) bool {
	if !d.timed || d.hour < 1 || d.hour > 12 {
		return false
	}
	d.hour %= 12
	if after {
		d.hour += 12
	}
	return true
}
