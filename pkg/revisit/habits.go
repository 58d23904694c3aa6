package revisit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Habits are what was learned of a host from the visits of its pages: what its signals are worth, at which hours its
// pages change, and whether its Last-Modified tells when they did. The zero value knows nothing.
type Habits struct {
	Signals Signals
	Cycle   Cycle
	// Dated counts the visits in a row at which Last-Modified had moved if and only if the page had changed; at most 255.
	Dated uint8
}

// datesTrusted is how many such visits make Last-Modified trusted. The first breach takes the trust away.
const datesTrusted = 5

// Dates reports whether the host's Last-Modified can be trusted.
func (h *Habits) Dates() bool { return h.Dated >= datesTrusted }

// Learn takes in what a visit found of a page, by its states before and after. It learns nothing of a visit that was
// observed before, of a first one, or of one that did not see the page. Signals are judged by pages that something told
// of before: what is in no sitemap says nothing of what sitemaps are worth.
func (h *Habits) Learn(before, after State) {
	if after.Visits <= before.Visits || before.Last.IsZero() || !after.Last.After(before.Last) {
		return
	}
	changed := after.Changes != before.Changes
	if before.Listed() {
		told := before.IsTold() && !before.Signal.After(after.Last)
		h.Signals = h.Signals.Observe(told, changed)
	}
	h.Cycle.Observe(before.Last, after.Last, changed)
}

// LearnDate takes in whether the Last-Modified of a page had moved at a visit, and whether its content had changed.
func (h *Habits) LearnDate(moved, changed bool) {
	switch {
	case moved != changed:
		h.Dated = 0
	case h.Dated < math.MaxUint8:
		h.Dated++
	}
}

// Use lets a policy go by the habits. They must not change as long as the policy is used.
func (h *Habits) Use(p *Policy) {
	p.Signals = &h.Signals
	if h.Cycle.known() {
		p.Cycle = &h.Cycle
	}
}

// HabitsSize is the length of stored Habits in octets.
const HabitsSize = 1 + 1 + 3*4 + 24*4

// habitsVersion is the format of stored Habits, their first octet.
const habitsVersion = 1

// ErrHabits is what decoding foreign bytes ends with.
var ErrHabits = errors.New("not the habits of a host")

// numbers are the fields that are stored as float32, in their order.
func (h *Habits) numbers() (out [27]*float32) {
	out[0], out[1], out[2] = &h.Signals.Right, &h.Signals.Wrong, &h.Signals.Silent
	for i := range h.Cycle.Found {
		out[3+i] = &h.Cycle.Found[i]
	}
	return out
}

// Append appends the stored form of h: version 1 · dated 1 · right 4 · wrong 4 · silent 4 · found 24 × 4.
func (h *Habits) Append(b []byte) []byte {
	b = append(b, habitsVersion, h.Dated)
	for _, n := range h.numbers() {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(*n))
	}
	return b
}

// DecodeHabits reads what [Habits.Append] wrote.
func DecodeHabits(b []byte) (h Habits, err error) {
	if len(b) != HabitsSize || b[0] != habitsVersion {
		return h, fmt.Errorf("%w: %d octets that begin with %.1x; this program knows %d of version %d", ErrHabits, len(b), b,
			HabitsSize, habitsVersion)
	}
	h.Dated = b[1]
	for i, n := range h.numbers() {
		*n = math.Float32frombits(binary.BigEndian.Uint32(b[2+4*i:]))
		if !(*n >= 0 && *n <= math.MaxFloat32) {
			return Habits{}, fmt.Errorf("%w: count %d is %v", ErrHabits, i, *n)
		}
	}
	return h, nil
}

// leastAge: a Last-Modified that is no older than this when the page is fetched is the time of the answer, as a server
// gives it that makes pages anew each time.
const leastAge = time.Minute

// TellsAge reports whether a Last-Modified is the date of a change, for a page that was fetched at a time.
func TellsAge(modified, fetched time.Time) bool {
	return !modified.IsZero() && fetched.Sub(modified) >= leastAge
}
