package robots

import "strings"

// pattern is a compiled rule: literal segments that must follow one another in the path, the first at its start.
type pattern struct {
	rule
	segments []segment
	anchored bool // the pattern ends in `$`: the last segment is at the end of the path
}

// segment is the text between two `*`, in comparison form. The form depends on where in the URL the segment is
// found, as `/` and `?` are delimiters in the path only; a `*` leaves that open until the path is known.
type segment struct {
	strict string // as it reads when it starts in the path
	folded string // as it reads when it starts in the query; "" where it cannot or reads the same
}

// parsePattern compiles a pattern of a rule: `*` is any octets, a last `$` the end (section 2.2.3).
func parsePattern(r rule, text string) pattern {
	p := pattern{rule: r}
	text, anchored := strings.CutSuffix(text, "$")
	p.anchored = anchored
	literals := strings.Split(text, "*")
	p.length = int32(len(literals) - 1)
	if anchored {
		p.length++
	}
	inQuery := false
	for i, literal := range literals {
		s := segment{strict: normalLiteral(literal, inQuery)}
		if i > 0 && !inQuery {
			if folded := normalLiteral(literal, true); folded != s.strict {
				s.folded = folded
			}
		}
		inQuery = inQuery || strings.Contains(literal, "?")
		p.length += int32(len(s.strict))
		if inner := i > 0 && i < len(literals)-1; !inner || literal != "" {
			p.segments = append(p.segments, s)
		}
	}
	return p
}

// normalLiteral is the comparison form of a literal that starts in the query or in the path.
func normalLiteral(literal string, inQuery bool) string {
	if isNormal(literal) {
		return literal
	}
	path, query, found := strings.Cut(literal, "?")
	b := appendNormal(nil, path, inQuery)
	if found {
		b = appendNormal(append(b, '?'), query, true)
	}
	return string(b)
}

// isPrefix reports whether the pattern matches just what starts with its only segment.
func (p *pattern) isPrefix() bool { return len(p.segments) == 1 && !p.anchored }

// match reports whether the pattern matches a path in comparison form whose query starts at query, and about how
// many octets it scanned. Taking each segment where it first fits leaves most room for the next ones, so there is
// nothing to backtrack and the path is gone through once.
func (p *pattern) match(path string, query int) (matched bool, scanned int) {
	if !strings.HasPrefix(path, p.segments[0].strict) {
		return false, 1
	}
	at := len(p.segments[0].strict)
	scanned = len(path) - at
	last := len(p.segments) - 1
	if last == 0 {
		return at == len(path), scanned // only anchored patterns have but one segment
	}
	for i := 1; i < last; i++ {
		if at = p.segments[i].find(path, at, query); at < 0 {
			return false, scanned
		}
	}
	if p.anchored {
		return p.segments[last].ends(path, at, query), scanned
	}
	return p.segments[last].find(path, at, query) >= 0, scanned
}

// find returns where the first occurrence of s in path at or after from ends, or -1. The strict form goes first: the
// two differ only in octets that the query of a path in comparison form never holds, so it lies further left.
func (s *segment) find(path string, from, query int) int {
	if i := strings.Index(path[from:], s.strict); i >= 0 {
		return from + i + len(s.strict)
	}
	if s.folded == "" {
		return -1
	}
	from = max(from, query)
	if i := strings.Index(path[from:], s.folded); i >= 0 {
		return from + i + len(s.folded)
	}
	return -1
}

// ends reports whether path ends in s, no part of it before from.
func (s *segment) ends(path string, from, query int) bool {
	if strings.HasSuffix(path[from:], s.strict) {
		return true
	}
	return s.folded != "" && strings.HasSuffix(path[max(from, query):], s.folded)
}
