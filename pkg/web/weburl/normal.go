package weburl

import "strings"

// appendNormal appends s with its percent-encoding in normal form (RFC 3986, sections 6.2.2.1 and 6.2.2.2): triplets of
// unreserved characters decoded, all others in upper case.
//
// A stray '%' complicates this: in "%%32e" decoding "%32" would leave "%2e", a triplet that was not there, and a second
// pass would read it as a dot. So a hex digit that would complete a triplet with a stray '%' stays encoded.
func appendNormal(b []byte, s string) []byte {
	stray := 0 // characters since a stray '%', that one included, while they may still grow into a triplet; else 0
	for {
		var i int
		if stray == 0 {
			if i = strings.IndexByte(s, '%'); i < 0 {
				return append(b, s...)
			}
			b = append(b, s[:i]...)
			s = s[i:]
		}
		if s == "" {
			return b
		}
		c, size := s[0], 1
		if decoded, ok := triplet(s); ok {
			c, size = decoded, 3
		}
		isHex := unhex(c) < 16
		switch {
		case size == 3 && (!isUnreserved(c) || stray > 0 && isHex):
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			stray = 0
		case size == 1 && c == '%':
			b = append(b, c)
			stray = 1
		default:
			b = append(b, c)
			if stray++; stray == 1 || stray > 2 || !isHex {
				stray = 0
			}
		}
		s = s[size:]
	}
}

// isUnreserved reports an unreserved character of RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return isAlpha(c) || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
