package weburl

import "strings"

// matcher recognises parameter names, ASCII letters in either case.
type matcher struct {
	names    map[string]struct{} // lower-case
	prefixes []string            // lower-case, of patterns that end in "*"
	first    [256]bool           // bytes a match can begin with: nearly every parameter is ruled out here
	longest  int                 // of names
}

func newMatcher(patterns []string) matcher {
	m := matcher{names: make(map[string]struct{}, len(patterns))}
	for _, p := range patterns {
		p = strings.ToLower(p)
		prefix, glob := strings.CutSuffix(p, "*")
		switch {
		case prefix == "":
			continue
		case glob:
			m.prefixes = append(m.prefixes, prefix)
		default:
			m.names[p] = struct{}{}
			m.longest = max(m.longest, len(p))
		}
		m.first[p[0]] = true
		m.first[upperByte(p[0])] = true
	}
	return m
}

func (m *matcher) empty() bool { return len(m.names) == 0 && len(m.prefixes) == 0 }

func (m *matcher) matches(name []byte) bool {
	if len(name) == 0 || !m.first[name[0]] {
		return false
	}
	for _, p := range m.prefixes {
		if len(name) >= len(p) && equalLower(name[:len(p)], p) {
			return true
		}
	}
	if len(name) > m.longest {
		return false
	}
	var buf [64]byte
	lower := buf[:0]
	for _, c := range name {
		lower = append(lower, lowerByte(c))
	}
	_, ok := m.names[string(lower)]
	return ok
}

// equalLower compares name, its letters lowered, with the lower-case p of the same length.
func equalLower(name []byte, p string) bool {
	for i := range name {
		if lowerByte(name[i]) != p[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c &^ 0x20
	}
	return c
}

const (
	minToken  = 16 // characters: 80 bits in base 32, about the least a session id is safe with
	minJumble = 3  // places where a letter and a digit touch
)

// isToken tells a session token from an ordinary value: long, of [0-9A-Za-z_-] only, and with letters and digits mixed.
// A number ("sid=20817") is too short, a slug ("winter-sale-of-2024") has its digits by themselves; 32 hex digits or a
// UUID have a dozen places where a letter meets a digit.
func isToken(value []byte) bool {
	if len(value) < minToken {
		return false
	}
	jumble, last := 0, byte(0)
	for _, c := range value {
		kind := byte(0)
		switch {
		case isAlpha(c):
			kind = 'a'
		case '0' <= c && c <= '9':
			kind = '0'
		case c != '-' && c != '_':
			return false
		}
		if kind != 0 && last != 0 && kind != last {
			jumble++
		}
		last = kind
	}
	return jumble >= minJumble
}
