package dates

import (
	"strings"
	"time"
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
	"января/янв/январь февраля/фев/февр/февраль марта/мар/март апреля/апр/апрель мая/май июня/июн/июнь июля/июл/июль " +
		"августа/авг/август сентября/сен/сент/сентябрь октября/окт/октябрь ноября/ноя/нояб/ноябрь декабря/дек/декабрь",
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

// weekdays may be before a date, with or without a comma behind them; others need one.
var weekdays = setOf("mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday " +
	"sun sunday mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag sonnabend so sonntag lun lundi " +
	"mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche lunes martes miércoles jueves viernes " +
	"sábado domingo lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag woensdag donderdag " +
	"vrijdag zaterdag zondag segunda-feira terça-feira quarta-feira quinta-feira sexta-feira")

// fillers may be between the parts of a date.
var fillers = setOf("de del of at the on um uhr le à alle às den der am kl om г года р r в o klo - – — | · @")

// zones are the hours of named zones, those that no other country names alike; "ist" is that of India.
var zones = map[string]float64{"z": 0, "utc": 0, "gmt": 0, "ut": 0, "wet": 0, "est": -5, "edt": -4, "cst": -6,
	"cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "cet": 1, "mez": 1,
	"cest": 2, "mesz": 2, "bst": 1, "west": 1, "eet": 2, "eest": 3, "msk": 3, "ist": 5.5, "sgt": 8, "hkt": 8, "awst": 8,
	"jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
	"art": -3, "brt": -3, "sast": 2, "trt": 3, "pkt": 5, "wib": 7, "ict": 7}

func setOf(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
