package timetable

import (
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// line is a cron line.
type line struct {
	spec   *cron.SpecSchedule
	hourly bool     // its hour is *, or a step: it means hours that pass, not those of a clock
	fields []string // the five
}

// parser reads lines as crontab(5) does: where both days are restricted, one of them suffices. A field that begins with
// an asterisk, such as */2, is not restricted in that sense: see parseLine.
var parser = cron.MustNewParser(
	cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom)

// names are the lines that have names.
var names = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

const maxLine = 200

func parseLine(text string) (*line, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if named := names[text]; named != "" {
		text = named
	}
	fields := strings.Fields(text)
	switch {
	case len(text) > maxLine || strings.Contains(text, "="):
		return nil, fault("cron", "want five fields, and the time zone in tz")
	case strings.HasPrefix(text, "@"):
		return nil, fault("cron", "%q: want @hourly, @daily, @weekly, @monthly or @yearly; every: 6h is an interval", text)
	case len(fields) != 5:
		return nil,
			fault("cron", "%q has %d fields: want minute, hour, day of month, month and day of week, as in 30 2 * * *", text,
				len(fields))
	}
	parsed, err := parser.Parse(text)
	if err != nil && (strings.Contains(err.Error(), "option") || strings.Contains(err.Error(), "parse int")) {
		// The library speaks of its own options and functions here.
		return nil, fault("cron", "%q: want numbers, ranges as in 1-5, lists as in 1,15, steps as in */10, and names of "+
			"months and weekdays; L, W, # and H are not known", text)
	}
	if err != nil {
		return nil, fault("cron", "%q: %v", text, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fault("cron", "%q: want five fields", text)
	}
	spec.DowOrDom = fields[2][0] != '*' && fields[4][0] != '*'
	spec.Location, spec.MaxSearchYears = time.UTC, 41 // 29 February of one weekday is up to 40 years away
	l := &line{spec: spec, fields: fields, hourly: strings.ContainsAny(fields[1], "*/?")}
	if l.next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fault("cron", "%q: there is no such day", text)
	}
	return l, nil
}

// next is the first time on the wall after another; zero: there is none.
func (l *line) next(wall time.Time) time.Time { return l.spec.Next(wall) }
