package revisit

import "time"

// Calendar is the time by which pages are visited again. The zero value is that of clocks. With a Speed its days pass
// faster, so that a test sees months of a crawl in minutes; who makes the pages has the same one.
type Calendar struct {
	Start time.Time // when both show the same
	Speed float64   // days of the calendar in a day; 0 and 1: as clocks go
}

// plain reports whether it goes as clocks do.
func (c Calendar) plain() bool { return c.Speed <= 0 || c.Speed == 1 }

// At is what the calendar shows when a clock shows t.
func (c Calendar) At(t time.Time) time.Time {
	if c.plain() {
		return t
	}
	return c.Start.Add(time.Duration(float64(t.Sub(c.Start)) * c.Speed))
}

// Real is how long a time of the calendar takes.
func (c Calendar) Real(d time.Duration) time.Duration {
	if c.plain() {
		return d
	}
	return time.Duration(float64(d) / c.Speed)
}

// PerDay is what is left in a day of the calendar of what happens so often in a day.
func (c Calendar) PerDay(n float64) float64 {
	if c.plain() {
		return n
	}
	return n / c.Speed
}
