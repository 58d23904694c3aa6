package timetable

import "time"

// A time on the wall is a time.Time in UTC whose fields are what a clock shows in the zone.

// onWall is what the clock shows at an instant.
func onWall(at time.Time, loc *time.Location) time.Time {
	_, offset := at.In(loc).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// instant is when the clock first shows a time: of one that comes twice the first. A time that does not exist because
// the clock is put forward over it means the first instant after the gap.
func (t *Table) instant(wall time.Time) time.Time {
	before, after := t.offset(wall.Add(-day)), t.offset(wall.Add(day))
	// The larger offset is of the earlier instant.
	for _, o := range []time.Duration{max(before, after), min(before, after)} {
		if at := wall.Add(-o); t.offset(at) == o {
			return at
		}
	}
	begins, _ := wall.Add(-before).In(t.loc).ZoneBounds() // of the zone after the gap
	return begins.UTC()
}

const day = 24 * time.Hour

func (t *Table) offset(at time.Time) time.Duration {
	_, seconds := at.In(t.loc).Zone()
	return time.Duration(seconds) * time.Second
}

// nextWall is the first time of the line, on the wall, whose instant is after another. As many times of a gap have the
// same instant, they are one slot, with the first of them as its name.
func (t *Table) nextWall(after time.Time) (at, wall time.Time) {
	// The clock may have been put back by an hour or three, or by a day where the date line moved.
	wall = onWall(after, t.loc).Add(-25 * time.Hour)
	for {
		if wall = t.line.next(wall); wall.IsZero() {
			return time.Time{}, wall
		}
		if at = t.instant(wall); at.After(after) {
			return at, wall
		}
	}
}

// nextInstant is the first instant after another at which the clock shows a time of the line: those that come twice
// count twice, and those in a gap do not come.
func (t *Table) nextInstant(after time.Time) time.Time {
	from := after
	for range 40 { // changes of the clock: 20 years
		offset := t.offset(from)
		_, ends := from.In(t.loc).ZoneBounds()
		wall := t.line.next(from.Add(offset))
		if wall.IsZero() {
			return time.Time{}
		}
		if at := wall.Add(-offset); ends.IsZero() || at.Before(ends) {
			return at
		}
		// The instant at which the clock changes may be one: ask from just before it, by the offset that comes.
		wall = t.line.next(ends.UTC().Add(t.offset(ends)).Add(-time.Nanosecond))
		if at := wall.Add(-t.offset(ends)); at.Equal(ends) {
			return at.UTC()
		}
		from = ends.UTC()
	}
	return time.Time{}
}
