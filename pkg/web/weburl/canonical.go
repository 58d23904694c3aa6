package weburl

import (
	"bytes"
	"slices"
	"strings"
)

// Canonicalizer reduces URLs to one canonical form by the rules of the package comment. It is immutable and may be
// used by many goroutines.
type Canonicalizer struct {
	query  matcher // always stripped from the query
	tokens matcher // stripped from the query when the value is a session token
	path   matcher // stripped from path parameters
	sort   bool
	max    int
}

// NewCanonicalizer builds a Canonicalizer. A pattern that Validate would report matches literally or not at all.
func NewCanonicalizer(cfg CanonicalConfig) *Canonicalizer {
	return &Canonicalizer{
		query:  newMatcher(cfg.StripParams),
		tokens: newMatcher(cfg.StripTokenParams),
		path:   newMatcher(cfg.StripPathParams),
		sort:   cfg.SortQuery,
		max:    cfg.MaxLength,
	}
}

// Canonical returns the canonical form of u, or the zero URL when that is longer than MaxLength (or u is zero). It is
// idempotent, and what it returns parses back to itself.
func (c *Canonicalizer) Canonical(u URL) URL {
	if u.IsZero() {
		return u
	}
	var buf [512]byte
	var o offsets
	b := append(append(buf[:0], u.Scheme()...), "://"...)
	o.host = uint32(len(b))
	b = append(b, trimDot(u.Hostname())...)
	o.hostEnd = uint32(len(b))
	b = append(b, u.href[u.off.hostEnd:u.off.path]...)
	o.path = uint32(len(b))
	b = c.appendPath(b, u.Path())
	o.query = uint32(len(b))
	b = c.appendQuery(b, u.Query())
	o.fragment = uint32(len(b))
	switch {
	case c.max > 0 && len(b) > c.max:
		return URL{}
	case string(b) == u.href:
		return u
	}
	return URL{href: string(b), off: o}
}

// trimDot removes the dot of a fully qualified name. "a.." stays: no resolver knows it, and "1.2.." would turn from a
// name into something that parses as an address.
func trimDot(host string) string {
	if n := len(host); n > 1 && host[n-1] == '.' && host[n-2] != '.' {
		return host[:n-1]
	}
	return host
}

func (c *Canonicalizer) appendPath(b []byte, path string) []byte {
	start := len(b)
	b = appendNormal(b, path)
	if c.path.empty() || strings.IndexByte(path, ';') < 0 {
		return b
	}
	path = string(b[start:])
	b = b[:start]
	for path != "" {
		end := 1 + slashIndex(path[1:], false)
		b = c.appendSegment(append(b, '/'), path[1:end])
		path = path[end:]
	}
	return b
}

// appendSegment appends a path segment without its stripped parameters. "..;sid=1" stays as it is: it is an ordinary
// segment, and what would be left of it is not.
func (c *Canonicalizer) appendSegment(b []byte, seg string) []byte {
	start := len(b)
	param, rest, more := strings.Cut(seg, ";")
	b = append(b, param...)
	for more {
		param, rest, more = strings.Cut(rest, ";")
		if name, _, _ := strings.Cut(param, "="); !c.path.matches([]byte(name)) {
			b = append(append(b, ';'), param...)
		}
	}
	if dots(string(b[start:])) > 0 {
		return append(b[:start], seg...)
	}
	return b
}

func (c *Canonicalizer) appendQuery(b []byte, query string) []byte {
	if query == "" {
		return b
	}
	mark := len(b)
	b = appendNormal(append(b, '?'), query)
	b = c.stripQuery(b, mark+1)
	if c.sort {
		b = sortQuery(b, mark+1)
	}
	if len(b) == mark+1 {
		return b[:mark]
	}
	return b
}

// stripQuery removes parameters from b[start:] in place: it never writes past what it has read.
func (c *Canonicalizer) stripQuery(b []byte, start int) []byte {
	w, first := start, true
	for r := start; r <= len(b); {
		end := len(b)
		if i := bytes.IndexByte(b[r:], '&'); i >= 0 {
			end = r + i
		}
		if pair := b[r:end]; !c.strips(pair) {
			if !first {
				b[w] = '&'
				w++
			}
			w += copy(b[w:], pair)
			first = false
		}
		r = end + 1
	}
	return b[:w]
}

// strips reports whether a query parameter is removed.
func (c *Canonicalizer) strips(pair []byte) bool {
	name, value, _ := bytes.Cut(pair, []byte{'='})
	return c.query.matches(name) || c.tokens.matches(name) && isToken(value)
}

// sortQuery orders the parameters of b[start:] by name, keeping the order of values that share one, and drops empty
// ones.
func sortQuery(b []byte, start int) []byte {
	pairs := strings.Split(string(b[start:]), "&")
	slices.SortStableFunc(pairs, func(x, y string) int {
		x, _, _ = strings.Cut(x, "=")
		y, _, _ = strings.Cut(y, "=")
		return strings.Compare(x, y)
	})
	b = b[:start]
	for _, p := range pairs {
		if p == "" {
			continue
		}
		if len(b) > start {
			b = append(b, '&')
		}
		b = append(b, p...)
	}
	return b
}
