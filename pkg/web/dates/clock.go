package dates

import "strings"

// clock is the time of a date.
type clock struct {
	hour, minute, second, nano int
	offset                     int // of its zone, in seconds
	timed, halved              bool
}

// takeTime reads 15:04, 15:04:05.678, 3:04pm, 15h04 and, behind a date, 15.04; a zone may follow at once.
func (c *clock) takeTime(word string, dated bool) bool {
	end := len(word)
	if at := strings.IndexAny(word, "+z"); at > 0 {
		end = at
	} else if at := strings.IndexByte(word, '-'); at > 0 {
		end = at
	}
	for name := range zones {
		if strings.HasSuffix(word, name) && len(name) > 1 {
			end = min(end, len(word)-len(name))
		}
	}
	text, zone := word[:end], word[end:]
	text, pm := strings.CutSuffix(text, "pm")
	text, am := strings.CutSuffix(text, "am")
	if !c.digits(text, dated) {
		return false
	}
	c.timed = true
	return (!am && !pm || c.halfDay(pm)) && (zone == "" || c.takeZone(zone))
}

// digits reads the figures of a time; 24:00 is the end of a day, and a minute may have a leap second.
func (c *clock) digits(text string, dated bool) bool {
	sep := ":"
	switch {
	case strings.Contains(text, ":"):
		text = strings.TrimSuffix(strings.TrimSuffix(text, "uhr"), "h")
	case strings.Contains(text, "h"), strings.Contains(text, "u"): // 15h04, 15u04
		text = strings.TrimSuffix(strings.NewReplacer("h", ":", "u", ":").Replace(text), ":")
		if !strings.Contains(text, ":") {
			text += ":00"
		}
	case dated && strings.Count(text, ".") == 1 && len(text) <= len("15.04"):
		sep = "."
	}
	parts := strings.Split(text, sep)
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	if len(parts) == 3 {
		var fraction string
		parts[2], fraction, _ = strings.Cut(parts[2], ".")
		if c.nano = nanos(fraction); c.nano < 0 {
			return false
		}
	}
	for i, p := range parts {
		n, ok := number(p)
		if !ok || len(p) > 2 || i > 0 && len(p) < 2 {
			return false
		}
		switch i {
		case 0:
			c.hour = n
		case 1:
			c.minute = n
		default:
			c.second = n
		}
	}
	return c.valid()
}

// apart writes 150405, as ISO 8601 has it behind a T, with colons.
func apart(text string) string {
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch n {
	case len("1504"):
		return text[:2] + ":" + text[2:]
	case len("150405"):
		return text[:2] + ":" + text[2:4] + ":" + text[4:]
	}
	return text
}

func (c *clock) valid() bool {
	whole := c.hour == 24 && c.minute+c.second+c.nano == 0
	return (c.hour < 24 || whole) && c.minute < 60 && c.second <= 60
}

// nanos reads a fraction of a second; -1: it is none.
func nanos(fraction string) int {
	if strings.Trim(fraction, "0123456789") != "" {
		return -1
	}
	n, _ := number((fraction + "000000000")[:9])
	return n
}

// halfDay makes the hour one of 24.
func (c *clock) halfDay(after bool) bool {
	if !c.timed || c.halved || c.hour < 1 || c.hour > 12 {
		return false
	}
	c.halved = true
	c.hour %= 12
	if after {
		c.hour += 12
	}
	return true
}

// takeZone reads cet, +01:00, +0100, +01, gmt+1, and one behind the other that says the same.
func (c *clock) takeZone(word string) bool {
	sign := strings.IndexAny(word, "+-")
	if sign < 0 {
		hours, ok := zones[word]
		if ok && c.offset == 0 {
			c.offset = int(hours * 3600)
		}
		return ok
	}
	if name := word[:sign]; name != "" && name != "gmt" && name != "utc" && name != "ut" {
		return false
	}
	text := strings.TrimSuffix(strings.Replace(word[sign+1:], ":", "", 1), "z")
	n, ok := number(text)
	if !ok || len(text) > 4 {
		return false
	}
	if len(text) <= 2 {
		n *= 100
	}
	if n%100 > 59 || n/100 > 14 {
		return false
	}
	c.offset = (n/100*60 + n%100) * 60
	if word[sign] == '-' {
		c.offset = -c.offset
	}
	return true
}
