package frontier

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// benchModel drives a schedule and keeps its own account of it.
type benchModel struct {
	w       *schedule
	now     time.Time
	hosts   []*host
	waiting map[*host]time.Time
	taken   map[*host]bool
	next    map[string]time.Time // by address
}

func (m *benchModel) joined(t *rapid.T) *host {
	var in []*host
	for _, h := range m.hosts {
		if h.unit != nil && !m.taken[h] {
			in = append(in, h)
		}
	}
	if len(in) == 0 {
		t.Skip("no host")
	}
	return rapid.SampledFrom(in).Draw(t, "host")
}

func (m *benchModel) join(t *rapid.T) {
	h := &host{rec: crawl.Host{Key: fmt.Sprint(len(m.hosts))}, index: -1}
	m.hosts = append(m.hosts, h)
	m.w.join(h, rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "address"))
}

func (m *benchModel) add(t *rapid.T) {
	h := m.joined(t)
	at := m.now.Add(time.Duration(rapid.IntRange(-5, 20).Draw(t, "wait")) * time.Second)
	m.w.add(h, at)
	m.waiting[h] = at
}

func (m *benchModel) remove(t *rapid.T) {
	h := m.joined(t)
	m.w.remove(h)
	delete(m.waiting, h)
}

func (m *benchModel) leave(t *rapid.T) {
	h := m.joined(t)
	m.w.leave(h, m.now)
	delete(m.waiting, h)
}

func (m *benchModel) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "seconds")) * time.Second)
}

// ready is when h could be taken; ok is false where its address is busy.
func (m *benchModel) ready(h *host) (at time.Time, ok bool) {
	at = m.waiting[h]
	if !h.unit.shared {
		return at, true
	}
	for o := range m.taken {
		if o.unit == h.unit {
			return at, false
		}
	}
	return later(at, m.next[h.unit.key]), true
}

func (m *benchModel) take(t *rapid.T) {
	var first time.Time
	some := false
	for h := range m.waiting {
		if at, ok := m.ready(h); ok && (!some || at.Before(first)) {
			first, some = at, true
		}
	}
	if due, ok := m.w.due(); ok != some || ok && !later(due, m.now).Equal(later(first, m.now)) {
		t.Fatalf("due %v %v, want %v %v", due, ok, first, some)
	}
	h := m.w.take(m.now)
	switch {
	case !some || first.After(m.now):
		if h != nil {
			t.Fatalf("host %s was taken, but none was ready", h.rec.Key)
		}
	case h == nil:
		t.Fatal("nobody was taken, but a host was ready")
	default:
		if at, ok := m.ready(h); !ok || at.After(m.now) {
			t.Fatalf("host %s was taken, but it is ready at %v (%v)", h.rec.Key, at, ok)
		}
		for o, at := range m.waiting { // clocks of addresses that have run out may be forgotten
			if !h.unit.shared && !o.unit.shared && at.Before(m.waiting[h]) {
				t.Fatalf("host %s was taken, but host %s waits longer", h.rec.Key, o.rec.Key)
			}
		}
		delete(m.waiting, h)
		m.taken[h] = true
	}
}

func (m *benchModel) done(t *rapid.T) {
	for _, h := range m.hosts {
		if !m.taken[h] {
			continue
		}
		next := m.now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "rest")) * time.Second)
		m.w.done(h.unit, next)
		if h.unit.shared {
			m.next[h.unit.key] = later(m.next[h.unit.key], next)
		}
		delete(m.taken, h)
		return
	}
	t.Skip("nobody is taken")
}

func TestWorkbenchGivesTheFirstReadyHostAndRestsAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &benchModel{w: newSchedule(), now: time.Unix(0, 0), waiting: map[*host]time.Time{}, taken: map[*host]bool{},
			next: map[string]time.Time{}}
		t.Repeat(map[string]func(*rapid.T){"join": m.join, "add": m.add, "remove": m.remove, "leave": m.leave, "pass": m.pass,
			"take": m.take, "done": m.done})
	})
}

// Addresses that no active host has must not stay in memory.
func TestWorkbenchForgetsAddresses(t *testing.T) {
	w, now := newSchedule(), time.Unix(0, 0)
	for i := range 10_000 {
		h := &host{index: -1}
		w.join(h, fmt.Sprint("address ", i))
		w.add(h, now)
		w.take(now)
		w.done(h.unit, now.Add(10*time.Second))
		w.leave(h, now)
		now = now.Add(time.Second)
	}
	if n := len(w.byKey); n > 40 || w.empty != n {
		t.Errorf("%d addresses in memory, %d counted as empty; 10 still rest", n, w.empty)
	}
}
