// Package dates reads dates as people write them, in the languages in which many pages are.
package dates

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/digits"
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
	"januar februar marts/mars april maj/mai juni juli august september oktober november december/desember",
	"tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta " +
		"marraskuuta joulukuuta",
	"ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
	"január február március április május június július augusztus szeptember október november december",
	"ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
	"januari februari maret april mei juni juli agustus september oktober november desember",
	"stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
	"ledna února března dubna května června července srpna září října listopadu prosince",
	"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	"січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
	"ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου",
	"يناير فبراير مارس أبريل/ابريل مايو يونيو يوليو أغسطس/اغسطس سبتمبر أكتوبر/اكتوبر نوفمبر ديسمبر",
	"जनवरी फ़रवरी/फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर",
	"มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม",
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
	"le": true, "à": true, "alle": true, "às": true, "den": true, "kl": true, "om": true, "г": true, "года": true,
	"р": true, "r": true, "в": true, "o": true, "klo": true}

// ordinals may end a day: "6th", "1er".
var ordinals = [...]string{"st", "nd", "rd", "th", "er", "º", "°"}

// writtenDate is a date whose month is written out, with or without a time.
type writtenDate struct {
	year, day, hour, minute, second int
	month                           time.Month
	timed                           bool
}

// buddhist is how many years the calendar of Thailand, which writes no other years beside its months, is ahead.
const buddhist = 543

var signs = strings.NewReplacer("年", "-", "月", "-", "日", " ", "년 ", "-", "월 ", "-", "년", "-", "월", "-", "일", " ")

// Written reads a date whose month is written out, or whose parts have signs of East Asia: "Monday, 6th May
// 2024 at 3:04 PM", "6. Mai 2024", "2024年5月6日".
func Written(s string) (time.Time, bool) {
	s = strings.ToLower(signs.Replace(digits.Plain(s)))
	if day, rest, ok := strings.Cut(s, ","); ok && !strings.ContainsFunc(day, unicode.IsDigit) && months[day] == 0 {
		s = rest // a day of the week
	}
	var d writtenDate
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !d.take(strings.TrimSuffix(word, ".")) {
			return time.Time{}, false
		}
	}
	if d.year > 2400 && strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Thai, r) }) {
		d.year -= buddhist
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
	case strings.Contains(word, "-"):
		t, err := time.Parse("2006-1-2", word)
		if err != nil || d.year+d.day+int(d.month) > 0 {
			return false
		}
		d.year, d.month, d.day = t.Year(), t.Month(), t.Day()
		return true
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
