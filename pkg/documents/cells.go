package documents

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// numberStyle is what a cell's style makes of its number.
type numberStyle uint8

const (
	plainNumber numberStyle = iota
	dateNumber
	timeNumber // of a day, or a duration: no date
	bothNumber
	shareNumber // per cent
)

// workbook is what the cells of all sheets share.
type workbook struct {
	shared []string
	styles []numberStyle // by the number that cells name
	epoch  time.Time     // day zero
}

// maxStyles bounds the styles that are kept; Excel allows 65,490.
const maxStyles = 1 << 16

// readWorkbook reads strings, styles, and from which day dates are counted.
func (p *pack) readWorkbook(c *collector) (w *workbook, err error) {
	w = &workbook{epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	if w.shared, err = p.shared(c); err != nil {
		return nil, err
	}
	_ = p.walk("xl/workbook.xml", walker{start: func(n *node) error {
		if v := n.attr("date1904"); n.name == "workbookPr" && (v == "1" || v == "true") {
			w.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return nil
	}})
	own, in := map[string]numberStyle{}, false
	_ = p.walk("xl/styles.xml", walker{ // without styles numbers stay as they are
		start: func(n *node) error {
			switch {
			case n.name == "numFmt" && len(own) < maxStyles:
				own[n.attr("numFmtId")] = styleOf(n.attr("formatCode"))
			case n.name == "cellXfs":
				in = true
			case n.name == "xf" && in && len(w.styles) < maxStyles:
				id := n.attr("numFmtId")
				style, found := own[id]
				if !found {
					style = builtIn(id)
				}
				w.styles = append(w.styles, style)
			}
			return nil
		},
		end: func(name string) { in = in && name != "cellXfs" },
	})
	return w, nil
}

// builtIn is a style that workbooks name without saying how it looks (ECMA-376, part 1, 18.8.30). Those from 27 on are
// dates in East Asia.
func builtIn(id string) numberStyle {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
		return plainNumber
	case n == 9 || n == 10:
		return shareNumber
	case n >= 14 && n <= 17, n >= 27 && n <= 31, n == 36, n >= 50 && n <= 58:
		return dateNumber
	case n >= 18 && n <= 21, n >= 32 && n <= 35, n >= 45 && n <= 47:
		return timeNumber
	case n == 22:
		return bothNumber
	}
	return plainNumber
}

// styleOf reads a number format, of which the first part counts: letters stand for parts of a date.
func styleOf(format string) numberStyle {
	format, _, _ = strings.Cut(format, ";")
	signs := signsOf(format)
	day, clock := strings.ContainsAny(signs, "dy"), strings.ContainsAny(signs, "hs")
	switch {
	case day && clock:
		return bothNumber
	case day, !clock && strings.Contains(signs, "m"):
		return dateNumber
	case clock:
		return timeNumber
	case strings.Contains(signs, "%"):
		return shareNumber
	}
	return plainNumber
}

// signsOf is a number format without what it shows as it stands, colours and countries, in lower case. "[h]:mm" is a
// duration.
func signsOf(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		switch c := format[i]; c {
		case '"':
			within, _, _ := strings.Cut(format[i+1:], `"`)
			i += len(within) + 1
		case '[':
			within, _, _ := strings.Cut(format[i+1:], "]")
			i += len(within) + 1
			if strings.Trim(within, "hHmMsS") == "" {
				b.WriteString(within + "s")
			}
		case '\\', '_', '*':
			i++
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToLower(b.String())
}

// cell is the text of a cell, whose style is the number of one.
func (w *workbook) cell(kind, style, value string) string {
	value = strings.TrimSpace(value)
	switch kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(w.shared) {
			return ""
		}
		return w.shared[i]
	case "b":
		if value == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "", "n":
		return w.number(style, value)
	}
	return value
}

// Digits of numbers that programs show, and the last day that they can show, 9999-12-31.
const (
	shownDigits = 15
	lastDay     = 2958465
)

// number is a number as its style has it: dates and times as ISO 8601 writes them.
func (w *workbook) number(style, value string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	kind := plainNumber
	if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(w.styles) {
		kind = w.styles[i]
	}
	switch {
	case kind == shareNumber:
		return plainDigits(100*f) + "%"
	case kind == plainNumber || f < 0 || f > lastDay:
		if len(value) <= shownDigits {
			return value
		}
		return plainDigits(f)
	}
	at := w.epoch.Add(time.Duration(math.Floor(f)) * 24 * time.Hour).Add(
		time.Duration(math.Round((f-math.Floor(f))*24*60*60)) * time.Second)
	if f < 60 && w.epoch.Year() < 1900 && kind != timeNumber {
		at = at.Add(24 * time.Hour) // Excel has a 29 February 1900, day 60
	}
	switch {
	case kind == timeNumber:
		d := at.Sub(w.epoch)
		return fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	case kind == dateNumber, f == math.Floor(f):
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02 15:04:05")
}

// plainDigits writes a number with as many digits as are shown: 0.1, where 0.10000000000000001 is stored.
func plainDigits(f float64) string {
	f, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', shownDigits, 64), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
