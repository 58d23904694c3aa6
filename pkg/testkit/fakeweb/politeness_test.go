package fakeweb

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// at is a request to host a at address 1 that runs from one millisecond to another.
func at(from, to int64, change ...func(*Entry)) Entry {
	e := Entry{Host: "a", Path: "/", Status: 200, Start: from * ms, End: to * ms, Local: "127.0.0.1"}
	for _, c := range change {
		c(&e)
	}
	return e
}

func host(h, address string) func(*Entry) {
	return func(e *Entry) { e.Host, e.Local = h, address }
}

func path(p string) func(*Entry) { return func(e *Entry) { e.Path = p } }

func refused(status, after int) func(*Entry) {
	return func(e *Entry) { e.Status, e.RetryAfter = status, after }
}

// Each rule is broken once and kept once, with all else equal: a checker that lets one break pass is no witness.
func TestCheckPolitenessCatchesEachViolation(t *testing.T) {
	rules := Rules{
		HostDelay: 100 * time.Millisecond, Tolerance: 5 * time.Millisecond,
		CrawlDelay: func(h string) time.Duration {
			if h == "patient" {
				return time.Second
			}
			return 0
		},
		Allowed: func(_, p string) bool { return !strings.HasPrefix(p, "/private/") },
	}
	with := func(change func(*Rules)) Rules {
		r := rules
		change(&r)
		return r
	}
	address := with(func(r *Rules) { r.AddressDelay = 50 * time.Millisecond })
	fromStart := with(func(r *Rules) { r.AddressDelay, r.AddressFromStart = 50*time.Millisecond, true })
	two := with(func(r *Rules) { r.HostConnections = 2 })
	lax := with(func(r *Rules) { r.RobotsAtOnce = true })
	careless := with(func(r *Rules) { r.IgnoreRetryAfter = true })
	patient := host("patient", "127.0.0.1")
	b1, b2 := host("b", "127.0.0.1"), host("b", "127.0.0.2")
	for _, c := range []struct {
		name    string
		rules   Rules
		entries []Entry
		want    []ViolationKind
	}{
		{"delay kept", rules, []Entry{at(0, 10), at(110, 120), at(220, 230)}, nil},
		{"delay kept within tolerance", rules, []Entry{at(0, 10), at(105, 120)}, nil},
		{"delay from the end, not the start", rules, []Entry{at(0, 200), at(250, 260)}, []ViolationKind{TooSoon}},
		{"delay broken", rules, []Entry{at(0, 10), at(104, 120)}, []ViolationKind{TooSoon}},
		{"delay broken, log out of order", rules, []Entry{at(104, 120), at(0, 10)}, []ViolationKind{TooSoon}},
		{"each host has its own delay", rules, []Entry{at(0, 10), at(11, 12, b1)}, nil},
		{"two at once", rules, []Entry{at(0, 500), at(50, 60)}, []ViolationKind{TooManyAtOnce}},
		{"two at once, the first is longest", rules, []Entry{at(0, 500), at(50, 60), at(450, 460)},
			[]ViolationKind{TooManyAtOnce, TooManyAtOnce}},
		{"two at once, permitted", two, []Entry{at(0, 500), at(50, 60)}, nil},
		{"three at once, two permitted", two, []Entry{at(0, 500), at(50, 400), at(60, 70)}, []ViolationKind{TooManyAtOnce}},
		{"two connections, the second too soon", two, []Entry{at(0, 500), at(50, 60), at(70, 80)}, []ViolationKind{TooSoon}},
		{"crawl-delay kept", rules, []Entry{at(0, 10, patient), at(1010, 1020, patient)}, nil},
		{"crawl-delay broken", rules, []Entry{at(0, 10, patient), at(500, 510, patient)}, []ViolationKind{TooSoon}},
		{"retry-after kept", rules, []Entry{at(0, 10, refused(503, 2)), at(2010, 2020)}, nil},
		{"retry-after broken at another page", rules, []Entry{at(0, 10, refused(429, 2)), at(1500, 1510, path("/b"))},
			[]ViolationKind{TooImpatient}},
		{"retry-after broken much later in the log", rules, []Entry{at(0, 10, refused(503, 9)), at(9020, 9030),
			at(9140, 9150, refused(503, 1)), at(9300, 9310)}, []ViolationKind{TooImpatient}},
		{"retry-after binds one host", rules, []Entry{at(0, 10, refused(503, 2)), at(500, 510, b1)}, nil},
		{"retry-after with success means nothing", rules, []Entry{at(0, 10, refused(200, 2)), at(500, 510)}, nil},
		{"retry-after not asked for", careless, []Entry{at(0, 10, refused(503, 2)), at(500, 510)}, nil},
		{"address kept", address, []Entry{at(0, 10), at(60, 70, b1)}, nil},
		{"address broken", address, []Entry{at(0, 10), at(40, 70, b1)}, []ViolationKind{AddressTooSoon}},
		{"address, overlapping", address, []Entry{at(0, 100), at(60, 70, b1)}, []ViolationKind{AddressTooSoon}},
		{"address, other address", address, []Entry{at(0, 10), at(11, 12, b2)}, nil},
		{"address from the start, overlapping", fromStart, []Entry{at(0, 100), at(60, 70, b1)}, nil},
		{"address from the start, broken", fromStart, []Entry{at(0, 100), at(40, 70, b1)}, []ViolationKind{AddressTooSoon}},
		{"allowed", rules, []Entry{at(0, 10, path("/public/x"))}, nil},
		{"forbidden", rules, []Entry{at(0, 10, path("/private/x"))}, []ViolationKind{Forbidden}},
		{"robots.txt counts", rules, []Entry{at(0, 10, path("/robots.txt")), at(20, 30)}, []ViolationKind{TooSoon}},
		{"robots.txt at once", lax, []Entry{at(0, 10, path("/robots.txt")), at(11, 12, path(movedRobots)), at(112, 113)},
			nil},
		{"robots.txt at once, the page too", lax, []Entry{at(0, 10, path("/robots.txt")), at(20, 30)},
			[]ViolationKind{TooSoon}},
	} {
		var got []ViolationKind
		for _, v := range CheckPoliteness(c.entries, c.rules) {
			got = append(got, v.Kind)
			if v.Request.Host == "" || v.String() == "" {
				t.Errorf("%s: violation names no request: %+v", c.name, v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestViolationsSayWhatHappened(t *testing.T) {
	v := CheckPoliteness([]Entry{at(0, 10), at(20, 30, path("/b"))}, Rules{HostDelay: time.Second})
	if got := fmt.Sprint(v); !strings.Contains(got, "too soon: a/b") || !strings.Contains(got, "10ms after a/ ") ||
		!strings.Contains(got, "want 1s") {
		t.Errorf("%s", got)
	}
}

func TestRulesOfAWebCatchItsOwnTraps(t *testing.T) {
	cfg := Default()
	w := New(cfg)
	rules := w.Rules(0, 0, 0)
	caught := map[ViolationKind]bool{}
	for p := range w.Pages {
		_, target, err := splitURL(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		one := at(0, 1, host(p.Host, "127.0.0.1"), path(target))
		two := one
		two.Start, two.End = 2*ms, 3*ms
		found := CheckPoliteness([]Entry{one, two}, rules)
		forbidden := slices.ContainsFunc(found, func(v Violation) bool { return v.Kind == Forbidden })
		if forbidden != p.Disallowed {
			t.Fatalf("%s: forbidden %v, truth says %v", p.URL, forbidden, p.Disallowed)
		}
		for _, v := range found {
			caught[v.Kind] = true
		}
	}
	if !caught[Forbidden] || !caught[TooSoon] {
		t.Errorf("caught only %v", caught)
	}
}
