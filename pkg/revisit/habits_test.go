package revisit_test

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// seen is a state and the one after a visit a quarter of a day later; told says that a signal came between them.
func seen(listed, told, changed bool) (before, after revisit.State) {
	before = page(revisit.Rate{A: 1, B: 10}, 1)
	if listed {
		before.Signal = before.Last
	}
	if told {
		before = before.Told(days(.1))
	}
	o := revisit.Observation{Visit: before.Visits, At: days(.25), Sum: before.Sum}
	if changed {
		o.Sum++
	}
	return before, revisit.Observe(before, o, revisit.Rate{})
}

func TestHabitsLearnOfVisits(t *testing.T) {
	for name, c := range map[string]struct {
		listed, told, changed bool
		want                  revisit.Signals
		hours                 float32
	}{
		"told and changed":               {true, true, true, revisit.Signals{Right: 1}, 1},
		"told for the first time":        {false, true, true, revisit.Signals{Right: 1}, 1},
		"told and the same":              {true, true, false, revisit.Signals{Wrong: 1}, 0},
		"changed in silence":             {true, false, true, revisit.Signals{Silent: 1}, 1},
		"changed, and in no list":        {false, false, true, revisit.Signals{}, 1},
		"the same as before, in silence": {true, false, false, revisit.Signals{}, 0},
	} {
		var h revisit.Habits
		before, after := seen(c.listed, c.told, c.changed)
		h.Learn(before, after)
		sum := float32(0)
		for _, n := range h.Cycle.Found {
			sum += n
		}
		if h.Signals != c.want || sum < c.hours*.99 || sum > c.hours*1.01 {
			t.Errorf("%s: %+v and %v changes by the hour", name, h.Signals, sum)
		}
		if once := h; true {
			h.Learn(after, after) // told twice
			h.Learn(revisit.State{}, after)
			if h != once {
				t.Errorf("%s: what tells nothing changed it to %+v", name, h)
			}
		}
	}
}

// A word that came after the visit is still news, and no word of the visit's.
func TestSignalsOutliveVisitsBeforeThem(t *testing.T) {
	s := page(revisit.Rate{A: 1, B: 10}, 1).Told(days(3))
	o := revisit.Observation{Visit: s.Visits, At: days(2), Sum: s.Sum}
	after := revisit.Observe(s, o, revisit.Rate{})
	if !after.IsTold() || after.Signal != days(3) {
		t.Errorf("%+v", after)
	}
	var h revisit.Habits
	if h.Learn(s, after); h.Signals != (revisit.Signals{}) {
		t.Errorf("learned %+v", h.Signals)
	}
	o.Visit, o.At = after.Visits, days(4)
	if after = revisit.Observe(after, o, revisit.Rate{}); after.IsTold() || !after.Listed() {
		t.Errorf("%+v is told of, or not listed", after)
	}
	stored, err := revisit.DecodeState(after.Append(nil))
	if err != nil || stored.IsTold() || !stored.Listed() {
		t.Errorf("%+v: stored as %+v, %v", after, stored, err)
	}
	told := after.Told(after.Last.Add(time.Second)) // one second is news as well
	if stored, err = revisit.DecodeState(told.Append(nil)); err != nil || !stored.IsTold() {
		t.Errorf("%+v: stored as %+v, %v", told, stored, err)
	}
}

func TestDatesAreTrustedUntilTheFirstBreach(t *testing.T) {
	var h revisit.Habits
	for i := range 300 {
		if h.Dates() != (i >= 5) {
			t.Fatalf("trusted after %d visits: %v", i, h.Dates())
		}
		h.LearnDate(i%3 == 0, i%3 == 0)
	}
	for _, moved := range []bool{true, false} {
		breached := h
		if breached.LearnDate(moved, !moved); breached.Dates() {
			t.Errorf("trusted after a breach: moved %v", moved)
		}
	}
	now := days(1)
	for age, want := range map[time.Duration]bool{0: false, -time.Hour: false, 59 * time.Second: false,
		time.Minute: true} {
		if revisit.TellsAge(now.Add(-age), now) != want {
			t.Errorf("a date %v before the answer tells of a change: %v", age, !want)
		}
	}
	if revisit.TellsAge(time.Time{}, now) {
		t.Error("no date tells of a change")
	}
}

// Unknown hours move no visit.
func TestHabitsOfAnUnknownHostChangeNothing(t *testing.T) {
	p := revisit.Default()
	p.Tau = 2
	s := page(revisit.Rate{A: 4, B: 80}, 1)
	s.Signal = s.Last
	plain := wait(s, p)
	var h revisit.Habits
	if h.Use(&p); p.Cycle != nil || wait(s, p) != plain {
		t.Errorf("%v, want %v", wait(s, p), plain)
	}
}

func FuzzHabits(f *testing.F) {
	var h revisit.Habits
	f.Add(h.Append(nil))
	h.Dated, h.Signals.Wrong, h.Cycle.Found[3] = 7, 2.5, 1e9
	f.Add(h.Append(nil))
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := revisit.DecodeHabits(b)
		if err != nil {
			return
		}
		if back, err := revisit.DecodeHabits(h.Append(nil)); err != nil || back != h {
			t.Fatalf("%+v came back as %+v: %v", h, back, err)
		}
		p := revisit.Default()
		p.Tau = 1
		h.Use(&p)
		s := page(revisit.Rate{A: 1, B: 1}, 1).Told(days(.5))
		if due, _ := revisit.Next(s, p, days(1)); due.Before(s.Last.Add(p.Least)) || due.Sub(s.Last) > p.Most+12*time.Hour {
			t.Fatalf("due %v", due)
		}
	})
}
