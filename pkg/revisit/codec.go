package revisit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// StateSize is the length of a stored [State] in octets.
const StateSize = 40

// stateVersion is the format of stored states. It is in the high half of the first octet; the kind is in the low
// half.
const stateVersion = 1

// ErrState is what decoding foreign bytes ends with.
var ErrState = errors.New("not a state of a page")

// Append appends the stored form of s:
//
//	version and kind 1 · flags 1 · visits 4 · changes 2 · last 5 · due 4 · signal 4 · A 4 · B 4 · weight 1 · misses 1 ·
//	recent 1 · sum 8
//
// Last is in seconds since 1970; due and signal are in seconds after it, 0 for none. Due times are kept for 136 years,
// and those before Last as one second after it. A signal that is no news is 1, one that is news 2 or more.
func (s State) Append(b []byte) []byte {
	b = append(b, stateVersion<<4|byte(s.Kind)&0xf, s.Flags.octet()) //nolint:staticcheck // named, so that a reader sees what it is
	b = binary.BigEndian.AppendUint32(b, s.Visits)
	b = binary.BigEndian.AppendUint16(b, s.Changes)
	last := seconds(s.Last)
	b = append(b, byte(last>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(last))
	b = binary.BigEndian.AppendUint32(b, after(s.Due, last))
	b = binary.BigEndian.AppendUint32(b, afterSignal(s.Signal, last))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(s.Rate.A)))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(s.Rate.B)))
	b = append(b, s.Weight, s.Misses, s.Recent)
	return binary.BigEndian.AppendUint64(b, s.Sum)
}

// DecodeState reads what [State.Append] wrote.
func DecodeState(b []byte) (s State, err error) {
	if len(b) != StateSize {
		return s, fmt.Errorf("%w: %d octets, want %d", ErrState, len(b), StateSize)
	}
	if v := b[0] >> 4; v != stateVersion {
		return s, fmt.Errorf("%w: version %d; this program knows %d", ErrState, v, stateVersion)
	}
	s.Kind, s.Flags = Kind(b[0]&0xf), octetFlags(b[1])
	s.Visits, s.Changes = binary.BigEndian.Uint32(b[2:]), binary.BigEndian.Uint16(b[6:])
	last := int64(b[8])<<32 | int64(binary.BigEndian.Uint32(b[9:]))
	s.Last = moment(last, last > 0)
	s.Due = later(last, binary.BigEndian.Uint32(b[13:]))
	s.Signal = signalAfter(last, binary.BigEndian.Uint32(b[17:]))
	s.Rate.A = float64(math.Float32frombits(binary.BigEndian.Uint32(b[21:])))
	s.Rate.B = float64(math.Float32frombits(binary.BigEndian.Uint32(b[25:])))
	s.Weight, s.Misses, s.Recent = b[29], b[30], b[31]
	s.Sum = binary.BigEndian.Uint64(b[32:])
	if s.Kind >= kinds || b[1]>>5 != 0 || !s.Rate.stored() {
		return State{}, fmt.Errorf("%w: kind %d, flags %#x, rate %v/%v", ErrState, b[0]&0xf, b[1], s.Rate.A, s.Rate.B)
	}
	return s, nil
}

// stored reports whether r is what a state may hold: no belief, or one within the bounds (a float32 rounds them).
func (r Rate) stored() bool {
	in := func(x, low, high float64) bool { return x >= low*.999 && x <= high*1.001 }
	return r == (Rate{}) || in(r.A, leastA, mostA) && in(r.B, leastB, mostB)
}

func (f Flags) octet() (b byte) {
	for i, set := range []bool{f.Moved, f.Withdrawn, f.Soft, f.Gone, f.Copy} {
		if set {
			b |= 1 << i
		}
	}
	return b
}

func octetFlags(b byte) Flags {
	return Flags{Moved: b&1 != 0, Withdrawn: b&2 != 0, Soft: b&4 != 0, Gone: b&8 != 0, Copy: b&16 != 0}
}

// seconds are those of a time since 1970, within five octets: until the year 36812. The zero time, and what was before
// 1970, is 0.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return min(max(t.Unix(), 0), 1<<40-1)
}

func after(t time.Time, last int64) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix()-last, 1), math.MaxUint32))
}

// oldNews stands for a signal that is not after the last look.
const oldNews = 1

func afterSignal(t time.Time, last int64) uint32 {
	if !t.IsZero() && t.Unix() > last {
		return max(after(t, last), oldNews+1)
	}
	return after(t, last)
}

func signalAfter(last int64, d uint32) time.Time {
	if d == oldNews {
		return moment(last, true)
	}
	return later(last, d)
}

func later(last int64, d uint32) time.Time { return moment(last+int64(d), d > 0) }

func moment(sec int64, set bool) time.Time {
	if !set {
		return time.Time{}
	}
	return time.Unix(sec, 0).UTC()
}
