package fakeweb

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Rules are what a polite crawler keeps, as a server can see it.
type Rules struct {
	// HostDelay is the least time between the end of one request to a host and the start of the next.
	HostDelay time.Duration
	// AddressDelay is the same for all hosts of one address together.
	AddressDelay time.Duration
	// AddressFromStart counts AddressDelay from the start of the earlier request, so that requests to two hosts of
	// an address may overlap.
	AddressFromStart bool
	// HostConnections is how many requests to a host may run at once, each with the delay after it; 0 means 1.
	HostConnections int
	// CrawlDelay is what a host's robots.txt asks for; the longer delay counts. Nil: nothing.
	CrawlDelay func(host string) time.Duration
	// Allowed says whether robots.txt lets the path be fetched. Nil: everything.
	Allowed func(host, path string) bool
	// IgnoreRetryAfter permits requests to a host that asked for patience with a 429 or 503.
	IgnoreRetryAfter bool
	// RobotsAtOnce lets requests for robots.txt, and for what it redirects to, come without delay.
	RobotsAtOnce bool
	// Tolerance is how much earlier than allowed a request may start. Complete answers need none, because an [Entry]
	// never ends after its client had the answer. Answers that the client aborted need the time in which the server
	// notices that: a few milliseconds on a busy machine.
	Tolerance time.Duration
}

// Rules are the web's own: its crawl-delays and robots.txt files, with the delays the crawl was given.
func (w *Web) Rules(hostDelay, addressDelay, tolerance time.Duration) Rules {
	return Rules{
		HostDelay: hostDelay, AddressDelay: addressDelay, Tolerance: tolerance,
		CrawlDelay: w.CrawlDelay, Allowed: w.Allowed,
	}
}

// ViolationKind is which promise a request broke.
type ViolationKind string

// The promises that [CheckPoliteness] checks.
const (
	TooSoon        ViolationKind = "too soon"         // after the previous request to the host
	TooManyAtOnce  ViolationKind = "too many at once" // to the host
	AddressTooSoon ViolationKind = "address too soon" // after the previous request to the address
	TooImpatient   ViolationKind = "too impatient"    // before Retry-After had passed
	Forbidden      ViolationKind = "forbidden"        // by robots.txt
)

// Violation is a request that came when, or to where, it should not have.
type Violation struct {
	Kind     ViolationKind
	Request  Entry
	Previous Entry         // the request it came too close to; zero for Forbidden
	Got      time.Duration // between the two; negative: they overlapped
	Want     time.Duration
}

func (v Violation) String() string {
	r := v.Request
	if v.Kind == Forbidden {
		return fmt.Sprintf("forbidden: %s%s", r.Host, r.Path)
	}
	return fmt.Sprintf("%s: %s%s (connection %d, %s) %v after %s%s (connection %d), want %v", v.Kind, r.Host, r.Path,
		r.Conn, r.Local, v.Got, v.Previous.Host, v.Previous.Path, v.Previous.Conn, v.Want)
}

// CheckPoliteness returns every violation of the rules in a server's log, in the order of the requests. It takes
// O(n log n) time for n entries, which may be in any order.
func CheckPoliteness(entries []Entry, rules Rules) []Violation {
	c := checker{rules: rules, hosts: make(map[string]*hostRecord), addresses: make(map[string]*Entry)}
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
	for i := range sorted {
		c.check(&sorted[i])
	}
	return c.found
}

type checker struct {
	rules     Rules
	hosts     map[string]*hostRecord
	addresses map[string]*Entry // whose delay ends last
	found     []Violation
}

// hostRecord is what of a host's past can forbid a request.
type hostRecord struct {
	slots   []*Entry // the last request of each permitted connection
	refusal *Entry   // whose Retry-After ends last
}

func (c *checker) check(e *Entry) {
	h := c.hosts[e.Host]
	if h == nil {
		h = &hostRecord{slots: make([]*Entry, max(c.rules.HostConnections, 1))}
		c.hosts[e.Host] = h
	}
	c.checkAllowed(e)
	c.checkPatience(e, h)
	c.checkHost(e, h)
	c.checkAddress(e)
}

func (c *checker) checkAllowed(e *Entry) {
	if c.rules.Allowed != nil && !c.rules.Allowed(e.Host, e.Path) {
		c.found = append(c.found, Violation{Kind: Forbidden, Request: *e})
	}
}

func (c *checker) checkPatience(e *Entry, h *hostRecord) {
	if c.rules.IgnoreRetryAfter {
		return
	}
	if r := h.refusal; r != nil {
		c.compare(TooImpatient, e, r, r.End, time.Duration(r.RetryAfter)*time.Second)
	}
	if (e.Status == 429 || e.Status == 503) && e.RetryAfter > 0 &&
		(h.refusal == nil || patience(e) > patience(h.refusal)) {
		h.refusal = e
	}
}

// patience is when a refused host may be asked again.
func patience(e *Entry) int64 { return e.End + int64(e.RetryAfter)*int64(time.Second) }

// checkHost assigns a request to the connection that was free first. One test finds both requests at once and requests
// too soon: a connection counts as taken from a request's start until the delay after its end is over.
func (c *checker) checkHost(e *Entry, h *hostRecord) {
	slot := 0
	for i, s := range h.slots {
		if s == nil {
			slot = i
			break
		}
		if s.End < h.slots[slot].End {
			slot = i
		}
	}
	previous := h.slots[slot]
	h.slots[slot] = e
	if previous == nil {
		return
	}
	want := c.rules.HostDelay
	if c.rules.CrawlDelay != nil {
		want = max(want, c.rules.CrawlDelay(e.Host))
	}
	if c.rules.RobotsAtOnce && isRobots(e.Path) {
		want = 0
	}
	kind := TooSoon
	if time.Duration(previous.End-e.Start) > c.rules.Tolerance {
		kind = TooManyAtOnce
	}
	c.compare(kind, e, previous, previous.End, want)
	if previous.End > e.End { // keep the one that ends last in mind
		h.slots[slot] = previous
	}
}

func isRobots(path string) bool { return path == "/robots.txt" || path == movedRobots }

func (c *checker) checkAddress(e *Entry) {
	since := func(e *Entry) int64 {
		if c.rules.AddressFromStart {
			return e.Start
		}
		return e.End
	}
	if c.rules.AddressDelay <= 0 {
		return
	}
	previous := c.addresses[e.Local]
	if previous != nil && (!c.rules.RobotsAtOnce || !isRobots(e.Path)) {
		c.compare(AddressTooSoon, e, previous, since(previous), c.rules.AddressDelay)
	}
	if previous == nil || since(e) > since(previous) {
		c.addresses[e.Local] = e
	}
}

// compare reports a request that starts less than want after a moment of the previous one.
func (c *checker) compare(kind ViolationKind, e, previous *Entry, moment int64, want time.Duration) {
	if got := time.Duration(e.Start - moment); got < want-c.rules.Tolerance {
		c.found = append(c.found, Violation{kind, *e, *previous, got, want})
	}
}
