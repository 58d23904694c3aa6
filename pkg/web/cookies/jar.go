package cookies

import (
	"slices"
	"time"
)

// refresh is how much later a cookie must expire so that this alone changes the jar: many servers move it with each
// answer.
const refresh = time.Hour

// Set puts a cookie into the jar of its site, which stays within its bounds, and reports whether anything changed that
// matters. The slice is changed in place.
func Set(jar []Cookie, c Cookie, now time.Time) (_ []Cookie, changed bool) {
	at := slices.IndexFunc(jar, func(d Cookie) bool { return d.Same(&c) })
	switch {
	case at >= 0 && c.Expired(now):
		return slices.Delete(jar, at, at+1), true
	case c.Expired(now):
		return jar, false
	case at >= 0:
		old := jar[at]
		c.Created = old.Created
		same := c.Value == old.Value && c.Secure == old.Secure && near(c.Expires, old.Expires, now)
		if !same {
			jar[at] = c
		}
		return bound(jar, at, now), !same
	}
	jar = bound(append(jar, c), len(jar), now)
	return jar, true
}

// near reports whether a cookie need not be written again for a new time of its end.
func near(a, b, now time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() == b.IsZero()
	}
	return b.Sub(now) > refresh && a.Sub(b).Abs() < refresh
}

// bound removes what is over and, where there is too much, what is oldest; never the one at keep.
func bound(jar []Cookie, keep int, now time.Time) []Cookie {
	kept := jar[keep]
	jar = slices.DeleteFunc(jar, func(c Cookie) bool { return c.Expired(now) })
	count, bytes := 0, 0
	for i := range jar {
		if jar[i].Domain == kept.Domain {
			count++
		}
		bytes += jar[i].size() + overhead
	}
	for count > MaxOfHost || len(jar) > MaxOfSite || bytes > MaxBytes {
		i := oldest(jar, &kept, count > MaxOfHost)
		if i < 0 {
			return jar
		}
		if jar[i].Domain == kept.Domain {
			count--
		}
		bytes -= jar[i].size() + overhead
		jar = slices.Delete(jar, i, i+1)
	}
	return jar
}

// oldest is the cookie to go: not kept, and of its domain where own.
func oldest(jar []Cookie, kept *Cookie, own bool) int {
	at := -1
	for i := range jar {
		if !jar[i].Same(kept) && (!own || jar[i].Domain == kept.Domain) &&
			(at < 0 || jar[i].Created.Before(jar[at].Created)) {
			at = i
		}
	}
	return at
}

// SetAll puts what the Set-Cookie lines of an answer from p set into the jar of its site. keep may refuse a cookie;
// nil: it refuses none. The slice is not changed.
func SetAll(jar []Cookie, lines []string, p *Place, now time.Time, keep func(*Cookie) bool) (_ []Cookie, changed bool) {
	jar = slices.Clone(jar)
	for _, line := range lines[:min(len(lines), MaxLines)] {
		c, ok := Parse(line, p, now)
		if !ok || keep != nil && !keep(&c) || !p.Secure && hides(jar, &c) {
			continue
		}
		var one bool
		jar, one = Set(jar, c, now)
		changed = changed || one
	}
	return jar, changed
}

// hides reports whether a cookie of plain HTTP would take the place of a secure one (RFC 6265bis, 5.7).
func hides(jar []Cookie, c *Cookie) bool {
	return slices.ContainsFunc(jar, func(d Cookie) bool {
		return d.Secure && d.Name == c.Name &&
			(d.Domain == c.Domain || below(c.Domain, d.Domain) || below(d.Domain, c.Domain)) &&
			pathMatch(c.Path, d.Path)
	})
}
