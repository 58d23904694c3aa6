package timetable_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

func parse(t testing.TB, s timetable.Spec) *timetable.Table {
	t.Helper()
	table, err := timetable.Parse(s, time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC), "seed")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func utc(text string) time.Time {
	at, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		panic(err)
	}
	return at
}

// between are the labels of the slots after one instant and up to another.
func between(table *timetable.Table, from, to time.Time) (labels []string, at []time.Time) {
	for {
		s, found := table.Next(from)
		if !found || s.At.After(to) {
			return labels, at
		}
		labels, at, from = append(labels, s.Label), append(at, s.At), s.At
	}
}

// Days of the month and of the week, as crontab(5) joins them: both where one begins with an asterisk, else either.
func TestBothDays(t *testing.T) {
	for cron, want := range map[string]string{
		"0 0 */2 * 1": "2026-01-05", "0 0 1-7 * 1": "2026-01-02", "0 0 13 * */5": "2026-02-13", "0 0 13 * 5": "2026-01-02",
		"0 0 * * 1": "2026-01-05", "0 0 9 * *": "2026-01-09", "0 0 ? * 1": "2026-01-05", "0 0 29 2 */6": "2032-02-29",
	} {
		s, found := parse(t, timetable.Spec{Cron: cron}).Next(utc("2026-01-01T00:00"))
		if got := s.At.Format(time.DateOnly); !found || got != want {
			t.Errorf("%s: %s, want %s", cron, got, want)
		}
	}
}

// The two days on which the clocks of Denmark change: from 02:00 to 03:00 in the spring, from 03:00 to 02:00 in the
// autumn.
func TestDaylightSaving(t *testing.T) {
	const zone = "[Europe/Copenhagen]"
	autumn, spring := utc("2026-10-24T22:00"), utc("2027-03-27T23:00") // midnight there
	for _, c := range []struct {
		name, cron    string
		day           time.Time
		hours         int // that the day has
		slots         int
		first, second string // the first slots after midnight, in UTC; "": not looked at
		label         string // of the first
	}{
		{"daily on the long day", "30 2 * * *", autumn, 25, 1, "2026-10-25T00:30", "", "2026-10-25T02:30"},
		{"daily on the short day", "30 2 * * *", spring, 23, 1, "2027-03-28T01:00", "", "2027-03-28T02:30"},
		{"at the end of the gap", "0 3 * * *", spring, 23, 1, "2027-03-28T01:00", "", "2027-03-28T03:00"},
		{"hourly on the long day", "15 * * * *", autumn, 25, 25, "2026-10-24T22:15", "2026-10-24T23:15",
			"2026-10-25T00:15+02:00"},
		{"hourly on the short day", "15 * * * *", spring, 23, 23, "2027-03-27T23:15", "2027-03-28T00:15",
			"2027-03-28T00:15+01:00"},
		{"hourly, on the hour, on the short day", "0 * * * *", spring, 23, 23, "2027-03-28T00:00", "2027-03-28T01:00",
			"2027-03-28T01:00+01:00"},
		{"every two hours on the long day", "0 */2 * * *", autumn, 25, 13, "2026-10-25T00:00", "2026-10-25T01:00",
			"2026-10-25T02:00+02:00"},
		{"two times of a gap are one slot", "0,30 2 * * *", spring, 23, 1, "2027-03-28T01:00", "", "2027-03-28T02:00"},
		{"a time of a gap and the hour after it are one slot", "0 2,3 * * *", spring, 23, 1, "2027-03-28T01:00", "",
			"2027-03-28T02:00"},
		{"listed hours on the long day", "0 2,3 * * *", autumn, 25, 2, "2026-10-25T00:00", "2026-10-25T02:00",
			"2026-10-25T02:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := parse(t, timetable.Spec{Cron: c.cron, Zone: "Europe/Copenhagen"})
			labels, at := between(table, c.day, c.day.Add(time.Duration(c.hours)*time.Hour))
			if len(at) != c.slots {
				t.Fatalf("%d slots, want %d: %q", len(at), c.slots, labels)
			}
			if !at[0].Equal(utc(c.first)) || c.second != "" && !at[1].Equal(utc(c.second)) {
				t.Errorf("the first slots are at %v", at[:min(2, len(at))])
			}
			if labels[0] != c.label+zone {
				t.Errorf("the first slot is %s, want %s", labels[0], c.label+zone)
			}
		})
	}
}

// A year of a daily line has each day once, and one of an hourly line each hour, in zones of every kind.
func TestAYear(t *testing.T) {
	for _, zone := range []string{"Europe/Copenhagen", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca",
		"America/Santiago", "Asia/Tehran", "Pacific/Apia", "UTC", "Asia/Kathmandu"} {
		t.Run(zone, func(t *testing.T) {
			loc, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, loc).Add(-time.Nanosecond),
				time.Date(2027, 1, 1, 0, 0, 0, 0, loc).Add(-time.Nanosecond)
			for _, cron := range []string{"30 2 * * *", "0 0 * * *", "15 1 * * *", "59 23 * * *"} {
				labels, _ := between(parse(t, timetable.Spec{Cron: cron, Zone: zone}), from, to)
				days := map[string]bool{}
				for _, l := range labels {
					days[l[:10]] = true
				}
				if len(labels) != 365 || len(days) != 365 {
					t.Errorf("%s: %d slots on %d days", cron, len(labels), len(days))
				}
			}
			_, at := between(parse(t, timetable.Spec{Cron: "@hourly", Zone: zone}), from, to)
			if zone == "Australia/Lord_Howe" { // half an hour: one hour on the clock is only begun once more, and one is half
				return
			}
			if len(at) != 8760 {
				t.Errorf("%d hours", len(at))
			}
		})
	}
}

func TestIntervalsAndBounds(t *testing.T) {
	every := parse(t, timetable.Spec{Every: "6h", Start: "2026-10-24T02:00", Zone: "Europe/Copenhagen"})
	labels, _ := between(every, utc("2026-10-01T00:00"), utc("2026-10-24T13:00"))
	if !slices.Equal(labels, []string{"2026-10-24T00:00:00Z", "2026-10-24T06:00:00Z", "2026-10-24T12:00:00Z"}) {
		t.Errorf("%q", labels)
	}
	made := parse(t, timetable.Spec{Every: "90m"})
	if s, _ := made.Next(utc("2026-01-01T00:01")); s.Label != "2026-01-01T01:30:30Z" {
		t.Errorf("the first of an interval without a start is %s", s.Label)
	}
	daily := parse(t, timetable.Spec{Cron: "@daily", Start: "2026-12-01", Until: "2026-12-03", Zone: "Asia/Tokyo"})
	labels, _ = between(daily, utc("2026-01-01T00:00"), utc("2027-01-01T00:00"))
	if len(labels) != 3 || labels[0] != "2026-12-01T00:00[Asia/Tokyo]" || labels[2] != "2026-12-03T00:00[Asia/Tokyo]" {
		t.Errorf("%q", labels)
	}
	once := parse(t, timetable.Spec{Once: "2026-12-01T08:00", Zone: "Europe/Copenhagen"})
	labels, at := between(once, utc("2026-01-01T00:00"), utc("2027-01-01T00:00"))
	if len(labels) != 1 || !at[0].Equal(utc("2026-12-01T07:00")) {
		t.Errorf("once: %q at %v", labels, at)
	}
}

func TestJitter(t *testing.T) {
	table := parse(t, timetable.Spec{Cron: "@daily", Jitter: "10m"})
	again := parse(t, timetable.Spec{Cron: "@daily", Jitter: "10m"})
	seen := map[time.Duration]bool{}
	for from := utc("2026-01-01T00:00"); from.Before(utc("2026-03-01T00:00")); {
		s, _ := table.Next(from)
		same, _ := again.Next(from)
		if s != same {
			t.Fatalf("%v and %v", s, same)
		}
		d := s.Due.Sub(s.At)
		if d < 0 || d > 10*time.Minute {
			t.Fatalf("jitter %v", d)
		}
		seen[d], from = true, s.At
	}
	if len(seen) < 20 {
		t.Errorf("%d different delays on 59 days", len(seen))
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		spec timetable.Spec
		key  string
	}{
		{timetable.Spec{}, "cron"},
		{timetable.Spec{Cron: "@daily", Every: "1h"}, "cron"},
		{timetable.Spec{Cron: "* * * *"}, "cron"},
		{timetable.Spec{Cron: "* * * * * *"}, "cron"},
		{timetable.Spec{Cron: "60 * * * *"}, "cron"},
		{timetable.Spec{Cron: "0 0 30 2 *"}, "cron"},
		{timetable.Spec{Cron: "@every 1h"}, "cron"},
		{timetable.Spec{Cron: "@reboot"}, "cron"},
		{timetable.Spec{Cron: "0 0 L * *"}, "cron"},
		{timetable.Spec{Cron: "0 0 * * FRIL"}, "cron"},
		{timetable.Spec{Cron: "H H * * *"}, "cron"},
		{timetable.Spec{Cron: "TZ=UTC 0 0 * * *"}, "cron"},
		{timetable.Spec{Cron: "@daily", Zone: "Mars/Olympus"}, "tz"},
		{timetable.Spec{Cron: "@daily", Zone: "Local"}, "tz"},
		{timetable.Spec{Cron: "@daily", Zone: "../etc/passwd"}, "tz"},
		{timetable.Spec{Every: "1s"}, "every"},
		{timetable.Spec{Every: "-6h"}, "every"},
		{timetable.Spec{Every: "90000h"}, "every"},
		{timetable.Spec{Once: "tomorrow"}, "once"},
		{timetable.Spec{Cron: "@daily", Jitter: "25h"}, "jitter"},
		{timetable.Spec{Cron: "@daily", Start: "soon"}, "start"},
		{timetable.Spec{Cron: "@daily", Start: "2026-12-01", Until: "2026-11-01"}, "until"},
	} {
		_, err := timetable.Parse(c.spec, time.Time{}, "")
		var f *timetable.KeyError
		if !errors.As(err, &f) || f.Key != c.key {
			t.Errorf("%+v: %v, want a fault of %s", c.spec, err, c.key)
		}
		if err != nil && (strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "option")) {
			t.Errorf("%+v: %v: that is nothing that people know", c.spec, err)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		spec timetable.Spec
		want string
	}{
		{timetable.Spec{Cron: "30 2 * * *", Zone: "Europe/Copenhagen"}, "every day at 02:30, Europe/Copenhagen"},
		{timetable.Spec{Cron: "@weekly"}, "on Sundays at 00:00, UTC"},
		{timetable.Spec{Cron: "0 8,18 * * MON-FRI"}, "Monday to Friday at 08:00 and 18:00, UTC"},
		{timetable.Spec{Cron: "0 8 * * 1,3,5"}, "on Mondays, Wednesdays and Fridays at 08:00, UTC"},
		{timetable.Spec{Cron: "*/15 * * * *"}, "every 15 minutes, UTC"},
		{timetable.Spec{Cron: "*/1 * * * *", Jitter: "1m"}, "every minute, UTC, up to 1 minute later"},
		{timetable.Spec{Cron: "*/40 * * * *"}, "every hour at minutes 0 and 40, UTC"},
		{timetable.Spec{Cron: "*/7 * * * *"}, "from each full hour on every 7 minutes, UTC"},
		{timetable.Spec{Cron: "5 * * * *"}, "every hour at minute 5, UTC"},
		{timetable.Spec{Cron: "0 4 1 * *", Jitter: "10m"}, "on day 1 of each month at 04:00, UTC, up to 10 minutes later"},
		{timetable.Spec{Cron: "0 4 1 1 *"}, "by the cron line 0 4 1 1 *, UTC"},
		{timetable.Spec{Every: "6h"}, "every 6 hours"},
		{timetable.Spec{Once: "2026-12-01T08:00"}, "once, on 1 December 2026 at 08:00, UTC"},
	} {
		if got := parse(t, c.spec).Words(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.spec, got, c.want)
		}
	}
}

// What is a timetable has slots that come after what they were asked for, each after the one before.
func FuzzTimetable(f *testing.F) {
	f.Add("30 2 * * *", "", "Europe/Copenhagen", int64(1_792_000_000))
	f.Add("*/7 * 29 2 *", "", "Australia/Lord_Howe", int64(0))
	f.Add("", "61m", "", int64(-1))
	f.Fuzz(func(t *testing.T, cron, every, zone string, from int64) {
		table, err := timetable.Parse(timetable.Spec{Cron: cron, Every: every, Zone: zone}, time.Unix(0, 0), "x")
		if err != nil {
			return
		}
		at := time.Unix(from%4_000_000_000, 0)
		for range 5 {
			s, found := table.Next(at)
			if !found {
				return
			}
			if !s.At.After(at) || s.Due.Before(s.At) {
				t.Fatalf("after %v comes %+v", at, s)
			}
			at = s.At
		}
		table.Words()
	})
}
