package timetable

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Words says what the timetable is, for people: "every day at 02:30, Europe/Copenhagen".
func (t *Table) Words() string {
	var text string
	switch {
	case t.every > 0:
		text = "every " + span(t.every)
	case t.line == nil:
		text = "once, on " + t.once.Format("2 January 2006 at 15:04")
	default:
		text = t.line.words()
	}
	if t.every == 0 {
		text += ", " + t.loc.String()
	}
	if t.jitter > 0 {
		text += ", up to " + counted(t.jitter) + " later"
	}
	if t.spec.Start != "" {
		text += ", from " + t.spec.Start
	}
	if t.spec.Until != "" {
		text += ", until " + t.spec.Until
	}
	return text
}

// counted is span with the number where it is one.
func counted(d time.Duration) string {
	text := span(d)
	if text[0] < '0' || text[0] > '9' {
		text = "1 " + text
	}
	return text
}

// span writes 6h0m0s as 6 hours, and 1h0m0s as hour.
func span(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d%u.of != 0 {
			continue
		}
		if d == u.of {
			return u.name
		}
		return fmt.Sprintf("%d %ss", d/u.of, u.name)
	}
	return d.String()
}

var weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

// words says what a line means where that is simple; else it shows the line.
func (l *line) words() string {
	minute, err := strconv.Atoi(l.fields[0])
	days := l.days()
	step, isStep := strings.CutPrefix(l.fields[0], "*/")
	switch {
	case days == "":
	case err == nil && l.fields[1] == "*" && days == "every day":
		return fmt.Sprintf("every hour at minute %d", minute)
	case isStep && l.fields[1] == "*" && days == "every day":
		return stepped(step)
	case l.fields[0] == "*" && l.fields[1] == "*" && days == "every day":
		return "every minute"
	case err == nil:
		if at := times(l.fields[1], minute); at != "" {
			return days + " at " + at
		}
	}
	return "by the cron line " + strings.Join(l.fields, " ")
}

// stepped says when a step of minutes is. One that does not divide the hour begins anew with each: */40 is not every 40
// minutes.
func stepped(step string) string {
	n, err := strconv.Atoi(step)
	if err == nil && n > 0 && 60%n == 0 {
		return "every " + span(time.Duration(n)*time.Minute)
	}
	if err != nil || n < 10 {
		return "from each full hour on every " + step + " minutes"
	}
	var at []string
	for m := 0; m < 60; m += n {
		at = append(at, strconv.Itoa(m))
	}
	return "every hour at minutes " + listed(at)
}

// times are the times of hours that are listed; empty: they are more than a list.
func times(hours string, minute int) string {
	var at []string
	for hour := range strings.SplitSeq(hours, ",") {
		h, err := strconv.Atoi(hour)
		if err != nil {
			return ""
		}
		at = append(at, fmt.Sprintf("%02d:%02d", h, minute))
	}
	return listed(at)
}

// days says on which days; empty: that takes more words.
func (l *line) days() string {
	dom, month, dow := l.fields[2], l.fields[3], l.fields[4]
	switch {
	case month != "*":
		return ""
	case dom == "*" && dow == "*":
		return "every day"
	case dom == "*" && (dow == "1-5" || dow == "mon-fri"):
		return "Monday to Friday"
	case dow == "*":
		if n, err := strconv.Atoi(dom); err == nil {
			return fmt.Sprintf("on day %d of each month", n)
		}
	case dom == "*":
		return weekly(dow)
	}
	return ""
}

func weekly(field string) string {
	var on []string
	for one := range strings.SplitSeq(field, ",") {
		n, err := strconv.Atoi(one)
		for i, name := range weekdays {
			if strings.EqualFold(one, name[:3]) {
				n, err = i, nil
			}
		}
		if err != nil || n < 0 || n > 7 {
			return ""
		}
		on = append(on, weekdays[n%7]+"s")
	}
	return "on " + listed(on)
}

func listed(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
