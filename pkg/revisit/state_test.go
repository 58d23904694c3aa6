package revisit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

var day0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const aDay = 24 * time.Hour

func days(n float64) time.Time { return day0.Add(time.Duration(n * float64(aDay))) }

// story tells a page's visits, one a day.
func story(results ...revisit.Result) (s revisit.State) {
	for i, r := range results {
		s = revisit.Observe(s, revisit.Observation{Visit: uint32(i), At: days(float64(i)), Result: r, Sum: 7}, revisit.Rate{})
	}
	return s
}

func TestStoredStateIsWhatItWas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		last := time.Unix(r.Int64N(1<<33)+1, 0).UTC()
		want := revisit.State{Visits: r.Uint32(), Changes: uint16(r.Uint32()), Last: last, Kind: revisit.Kind(r.IntN(3)),
			Due:    last.Add(time.Duration(r.IntN(1<<30)+1) * time.Second),
			Signal: last.Add(time.Duration(r.IntN(1<<30)+1) * time.Second),
			Rate:   revisit.Rate{A: float64(float32(math.Exp(r.NormFloat64()))), B: float64(float32(math.Exp(r.NormFloat64())))},
			Weight: uint8(r.Uint32()), Sum: r.Uint64(), Misses: uint8(r.Uint32()), Recent: uint8(r.Uint32()),
			Flags: revisit.Flags{Moved: r.IntN(2) > 0, Withdrawn: r.IntN(2) > 0, Soft: r.IntN(2) > 0, Gone: r.IntN(2) > 0}}
		b := want.Append(nil)
		got, err := revisit.DecodeState(b)
		if err != nil || got != want || len(b) != revisit.StateSize {
			t.Fatalf("%+v\nbecame %+v in %d octets: %v", want, got, len(b), err)
		}
	}
	var none revisit.State
	if got, err := revisit.DecodeState(none.Append(nil)); err != nil || got != none {
		t.Errorf("the state of a page that was never visited became %+v: %v", got, err)
	}
}

// The stored form is a promise to those who stored it.
func TestStoredStateOfVersion1(t *testing.T) {
	b := "\x11\x05\x00\x00\x00\x09\x00\x03\x00\x69\x00\x00\x00\x00\x01\x51\x80\x00\x00\x00\x00" +
		"\x3f\x00\x00\x00\x41\x20\x00\x00\x88\x01\x05\x01\x02\x03\x04\x05\x06\x07\x08"
	want := revisit.State{Visits: 9, Changes: 3, Last: time.Unix(0x69000000, 0).UTC(),
		Due: time.Unix(0x69000000+86400, 0).UTC(), Rate: revisit.Unknown(), Weight: 0x88, Kind: revisit.Seed,
		Sum: 0x0102030405060708, Misses: 1, Recent: 5, Flags: revisit.Flags{Moved: true, Soft: true}}
	if got, err := revisit.DecodeState([]byte(b)); err != nil || got != want || string(want.Append(nil)) != b {
		t.Errorf("%+v, %v\nas %x\nwant %+v", got, err, want.Append(nil), want)
	}
}

func TestForeignStatesAreRefused(t *testing.T) {
	good := story(revisit.Seen).Append(nil)
	for what, change := range map[string]func(b []byte) []byte{
		"too short": func(b []byte) []byte { return b[:39] },
		"too long":  func(b []byte) []byte { return append(b, 0) },
		"version":   func(b []byte) []byte { b[0] = 2 << 4; return b },
		"kind":      func(b []byte) []byte { b[0] |= 9; return b },
		"flags":     func(b []byte) []byte { b[1] = 0x20; return b },
		"not a number": func(b []byte) []byte {
			copy(b[21:], "\x7f\xc0\x00\x00")
			return b
		},
	} {
		if _, err := revisit.DecodeState(change(append([]byte(nil), good...))); !errors.Is(err, revisit.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzDecodeState(f *testing.F) {
	f.Add(revisit.State{}.Append(nil))
	f.Add(story(revisit.Seen, revisit.Same, revisit.Missing).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := revisit.DecodeState(b)
		if err != nil {
			return
		}
		again, err := revisit.DecodeState(s.Append(nil))
		if err != nil || again != s {
			t.Fatalf("%+v became %+v: %v", s, again, err)
		}
		s = revisit.Observe(s, revisit.Observation{Visit: s.Visits, At: days(0), Sum: 1}, revisit.Rate{})
		p := revisit.Default()
		p.Tau = 1
		if due, _ := revisit.Next(s, p, days(0)); !due.IsZero() && due.Before(s.Last) {
			t.Fatalf("due %v, last %v", due, s.Last)
		}
	})
}

// An observation is told at least once.
func TestObservationToldTwiceCountsOnce(t *testing.T) {
	s := story(revisit.Seen, revisit.Seen)
	o := revisit.Observation{Visit: 2, At: days(5), Sum: 8, NewLinks: true}
	once := revisit.Observe(s, o, revisit.Rate{})
	if twice := revisit.Observe(once, o, revisit.Rate{}); twice != once {
		t.Errorf("%+v\nbecame %+v", once, twice)
	}
	older := revisit.Observation{Visit: 1, At: days(9), Result: revisit.Removed}
	if got := revisit.Observe(once, older, revisit.Rate{}); got != once {
		t.Error("an older visit changed the state")
	}
	if once.Changes != 1 || !once.Yields() {
		t.Errorf("%+v, want a change with new links", once)
	}
}

func TestFailuresTellNothing(t *testing.T) {
	s := story(revisit.Seen, revisit.Same)
	want := s
	want.Visits = 3
	if got := revisit.Observe(s, revisit.Observation{Visit: 2, At: days(9), Result: revisit.Failed},
		revisit.Rate{}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestMissingPagesAreLookedForLessAndLess(t *testing.T) {
	p := revisit.Default()
	p.Tau = 1
	for _, c := range []struct {
		what    string
		results []revisit.Result
		want    time.Duration
		gone    bool
	}{
		{"once", []revisit.Result{revisit.Seen, revisit.Missing}, aDay, false},
		{"twice", []revisit.Result{revisit.Seen, revisit.Missing, revisit.Missing}, 3 * aDay, false},
		{"removed", []revisit.Result{revisit.Seen, revisit.Removed}, 3 * aDay, false},
		{"three times", []revisit.Result{revisit.Seen, revisit.Missing, revisit.Missing, revisit.Missing}, 0, true},
		{"removed twice", []revisit.Result{revisit.Seen, revisit.Removed, revisit.Removed}, 0, true},
		{"closed", []revisit.Result{revisit.Seen, revisit.Forbidden}, 30 * aDay, false},
		{"never had", []revisit.Result{revisit.Failed}, 0, false},
	} {
		due, _ := revisit.Next(story(c.results...), p, days(10))
		if c.gone != due.IsZero() || !c.gone && due != days(10).Add(c.want) {
			t.Errorf("%s: due %v, want %v later, gone %v", c.what, due, c.want, c.gone)
		}
	}
	back := story(revisit.Seen, revisit.Missing, revisit.Missing, revisit.Seen)
	if back.Misses != 0 || back.IsGone(p) {
		t.Errorf("a page that is back: %+v", back)
	}
}

func TestMovedPagesWeighAnEighth(t *testing.T) {
	p := revisit.Default()
	p.Tau = 1
	stays, _ := revisit.Next(story(revisit.Seen, revisit.Seen), p, days(1))
	moved, _ := revisit.Next(story(revisit.Seen, revisit.Relocated), p, days(1))
	if moved.Sub(days(1)) < 2*stays.Sub(days(1)) {
		t.Errorf("due %v where it moved, %v where it stays", moved, stays)
	}
}

// Adverts change at each look, by little: after a while only what is new counts.
func TestSmallChangesAtEachLookStopCounting(t *testing.T) {
	var s revisit.State
	see := func(near bool) {
		s = revisit.Observe(s, revisit.Observation{Visit: s.Visits, At: days(float64(s.Visits)), Sum: uint64(s.Visits) + 1,
			Near: near}, revisit.Rate{})
	}
	for range 12 {
		see(true)
	}
	fast := s.Rate.Mean()
	for range 40 {
		see(true)
	}
	if !s.Soft || s.Rate.Mean() > fast/3 {
		t.Errorf("%.3f changes a day, %.3f before; soft %v", s.Rate.Mean(), fast, s.Soft)
	}
	slow := s.Rate.Mean()
	if see(false); s.Rate.Mean() <= slow {
		t.Error("a great change of a soft page did not count")
	}
}

func TestLastModifiedTellsOfTheLastChange(t *testing.T) {
	s := story(revisit.Seen)
	o := revisit.Observation{Visit: 1, At: days(100), Sum: 9, LastModified: days(99)}
	late := revisit.Observe(s, o, revisit.Rate{})
	o.LastModified = time.Time{}
	if plain := revisit.Observe(s, o, revisit.Rate{}); late.Rate.Mean() < 1.5*plain.Rate.Mean() {
		t.Errorf("changed a day ago: %v a day, some time in a hundred days: %v", late.Rate.Mean(), plain.Rate.Mean())
	}
}

// A clock that jumps back teaches nothing, and one that jumps forward no more than a longer interval does.
func TestClockJumpsTeachNothing(t *testing.T) {
	s := story(revisit.Seen, revisit.Same)
	back := revisit.Observe(s, revisit.Observation{Visit: 2, At: days(0), Sum: 8}, revisit.Rate{})
	if back.Rate != s.Rate || back.Last != days(0) {
		t.Errorf("%+v, want the rate %+v", back, s.Rate)
	}
	p := revisit.Default()
	p.Tau = 1
	if due, _ := revisit.Next(s, p, days(0)); due.Before(days(0).Add(p.Least)) {
		t.Errorf("due %v at %v, when the clock has gone back", due, days(0))
	}
}

func TestPriorities(t *testing.T) {
	p := revisit.Default()
	s := story(revisit.Seen, revisit.Seen)
	_, plain := revisit.Next(s, p, days(2))
	s.Recent = 0b1000
	_, yields := revisit.Next(s, p, days(2))
	s.Kind = revisit.List
	_, head := revisit.Next(s, p, days(2))
	if plain != revisit.PriorityPlain || yields != revisit.PriorityYields || head != revisit.PriorityHead {
		t.Errorf("priorities %d, %d, %d", plain, yields, head)
	}
}
