// Package timetable says at which instants something is to be done: by a cron line in a time zone, every so often, or
// once. It keeps to the clock on the wall where daylight saving begins and ends.
package timetable

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	_ "time/tzdata" // a machine may have no time zones
)

// Spec is a timetable as people write it. One of Cron, Every and Once is set.
type Spec struct {
	Cron   string `json:"cron,omitempty" yaml:"cron" doc:"minute, hour, day of month, month and day of week, or @hourly, @daily, @weekly, @monthly, @yearly"`
	Every  string `json:"every,omitempty" yaml:"every" doc:"interval from 1m to 8784h, as in 6h; it counts from the start, and without one from when the schedule was made"`
	Once   string `json:"once,omitempty" yaml:"once" doc:"one time, as in 2026-12-01T08:00"`
	Zone   string `json:"tz,omitempty" yaml:"tz" doc:"time zone by its IANA name, as in Europe/Copenhagen; empty: UTC"`
	Start  string `json:"start,omitempty" yaml:"start" doc:"nothing is done before: 2026-12-01, 2026-12-01T08:00, or RFC 3339"`
	Until  string `json:"until,omitempty" yaml:"until" doc:"nothing is done after; a day counts whole"`
	Jitter string `json:"jitter,omitempty" yaml:"jitter" doc:"each slot begins up to so much later, by chance that is the same each time; at most 24h"`
}

// Slot is a time at which something is to be done.
type Slot struct {
	// Label names the slot: the time on the wall and the zone, as RFC 9557 writes them. It has the offset where a time on
	// the wall may come twice.
	Label string
	At    time.Time // UTC
	Due   time.Time // At and the jitter
}

// Bounds of intervals and jitter.
const (
	minEvery  = time.Minute
	maxEvery  = 366 * 24 * time.Hour
	maxJitter = 24 * time.Hour
)

// Table is a timetable that can be asked.
type Table struct {
	spec         Spec
	loc          *time.Location
	start, until time.Time // zero: none
	every        time.Duration
	anchor       time.Time // of every
	once         time.Time // on the wall
	line         *line
	jitter       time.Duration
	seed         string
}

// KeyError is an error in one key of a Spec.
type KeyError struct{ Key, Problem string }

// Error implements error.
func (f *KeyError) Error() string { return f.Key + ": " + f.Problem }

func fault(key, format string, args ...any) *KeyError {
	return &KeyError{key, fmt.Sprintf(format, args...)}
}

// Parse reads a timetable. made is from when intervals count that have no start, and seed what jitter is made of. Its
// error is a *KeyError.
func Parse(s Spec, made time.Time, seed string) (*Table, error) {
	t := &Table{spec: s, seed: seed, loc: time.UTC}
	if s.Zone != "" {
		loc, err := time.LoadLocation(s.Zone)
		if err != nil || s.Zone == "Local" {
			return nil, fault("tz", "%q is no time zone: want an IANA name such as Europe/Copenhagen, America/New_York or UTC",
				s.Zone)
		}
		t.loc = loc
	}
	if err := t.bounds(made); err != nil {
		return nil, err
	}
	if err := t.rhythm(); err != nil {
		return nil, err
	}
	return t, nil
}

// bounds reads start, end and jitter.
func (t *Table) bounds(made time.Time) error {
	var whole bool
	var err error
	if t.spec.Start != "" {
		if t.start, _, err = t.moment("start", t.spec.Start); err != nil {
			return err
		}
	}
	if t.spec.Until != "" {
		if t.until, whole, err = t.moment("until", t.spec.Until); err != nil {
			return err
		}
		if whole { // a day: its last instant
			t.until = t.instant(onWall(t.until, t.loc).AddDate(0, 0, 1)).Add(-time.Microsecond)
		}
		if !t.start.IsZero() && t.until.Before(t.start) {
			return fault("until", "%s is before the start, %s", t.spec.Until, t.spec.Start)
		}
	}
	t.anchor = made.UTC().Truncate(time.Second)
	if !t.start.IsZero() {
		t.anchor = t.start
	}
	if t.spec.Jitter == "" {
		return nil
	}
	t.jitter, err = time.ParseDuration(t.spec.Jitter)
	if err != nil || t.jitter < 0 || t.jitter > maxJitter {
		return fault("jitter", "%q: want a duration up to 24h, as in 10m", t.spec.Jitter)
	}
	return nil
}

// rhythm reads what says how often.
func (t *Table) rhythm() (err error) {
	given := 0
	for _, text := range []string{t.spec.Cron, t.spec.Every, t.spec.Once} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return fault("cron", "give one of cron, every and once")
	}
	switch {
	case t.spec.Every != "":
		t.every, err = time.ParseDuration(t.spec.Every)
		if err != nil || t.every < minEvery || t.every > maxEvery || t.every%time.Second != 0 {
			return fault("every", "%q: want a duration from 1m to 8784h in whole seconds, as in 6h", t.spec.Every)
		}
	case t.spec.Once != "":
		if t.once, err = time.Parse(minutes, t.spec.Once); err != nil {
			return fault("once", "%q: want a day and a time in the zone, as in 2026-12-01T08:00", t.spec.Once)
		}
	default:
		if t.line, err = parseLine(t.spec.Cron); err != nil {
			return err
		}
	}
	return nil
}

const minutes = "2006-01-02T15:04"

// moment reads a time; whole: it was a day.
func (t *Table) moment(key, text string) (at time.Time, whole bool, err error) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return t.instant(at), true, nil
	}
	for _, layout := range []string{minutes, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return t.instant(at), false, nil
		}
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), false, nil
	}
	return at, false, fault(key, "%q: want a day (2026-12-01), a time in the zone (2026-12-01T08:00) or one with its "+
		"offset (2026-12-01T08:00:00Z)", text)
}

// Next is the first slot after an instant; found is false where there is none.
func (t *Table) Next(after time.Time) (s Slot, found bool) {
	after = after.UTC()
	if !t.start.IsZero() && after.Before(t.start) {
		after = t.start.Add(-time.Nanosecond)
	}
	switch {
	case t.every > 0:
		n := after.Sub(t.anchor)/t.every + 1
		if after.Before(t.anchor) {
			n = 0
		}
		s.At = t.anchor.Add(n * t.every)
		s.Label = s.At.Format(time.RFC3339)
	case t.line == nil:
		s.At, s.Label = t.instant(t.once), t.label(t.once)
		if !s.At.After(after) {
			return Slot{}, false
		}
	case t.line.hourly:
		s.At = t.nextInstant(after)
		s.Label = s.At.In(t.loc).Format("2006-01-02T15:04Z07:00") + t.zone()
	default:
		var wall time.Time
		s.At, wall = t.nextWall(after)
		s.Label = t.label(wall)
	}
	if s.At.IsZero() || !t.until.IsZero() && s.At.After(t.until) {
		return Slot{}, false
	}
	s.Due = s.At.Add(t.delay(s.Label))
	return s, true
}

// delay is the jitter of a slot: always the same.
func (t *Table) delay(label string) time.Duration {
	if t.jitter < time.Second {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.seed + " " + label)) // it never fails
	return time.Duration(h.Sum64()%uint64(t.jitter/time.Second+1)) * time.Second
}

func (t *Table) label(wall time.Time) string { return wall.Format(minutes) + t.zone() }

func (t *Table) zone() string { return "[" + t.loc.String() + "]" }

// Location is the time zone.
func (t *Table) Location() *time.Location { return t.loc }

// Wall is a slot as the clock in the zone shows it.
func Wall(label string) string {
	wall, _, _ := strings.Cut(label, "[")
	return wall
}
