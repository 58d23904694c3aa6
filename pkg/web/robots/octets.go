package robots

import "strings"

// class says how an octet is written in the form paths and patterns are compared in; see the package comment.
type class uint8

const (
	encoded   class = iota // always percent-encoded
	delimiter              // as written: raw and encoded differ
	slashes                // '/' and '?': a delimiter in the path, raw in the query
	raw                    // always raw
)

const hexDigits = "0123456789ABCDEF"

// classes is the class of each octet.
var classes = func() (t [256]class) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$'()*,:@[]") {
		t[c] = raw
	}
	for _, c := range []byte("&=+;#") {
		t[c] = delimiter
	}
	t['/'], t['?'] = slashes, slashes
	return t
}()

// normalPath brings a path with its query to the comparison form. A fragment is dropped, a missing leading slash
// added. query is where the query starts, after its "?", or the length of the path. The usual path is its own form.
func normalPath(s string) (path string, query int) {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s = s[:i]
	}
	if s == "" || s[0] != '/' {
		s = "/" + s
	}
	if isNormal(s) {
		if i := strings.IndexByte(s, '?'); i >= 0 {
			return s, i + 1
		}
		return s, len(s)
	}
	path, rest, found := strings.Cut(s, "?")
	b := appendNormal(make([]byte, 0, len(s)+32), path, false)
	if !found {
		return string(b), len(b)
	}
	b = append(b, '?')
	query = len(b)
	return string(appendNormal(b, rest, true)), query
}

// isNormal reports whether s has nothing to encode or decode.
func isNormal(s string) bool {
	for i := range len(s) {
		if classes[s[i]] == encoded { // '%' is one of these
			return false
		}
	}
	return true
}

// appendNormal appends the comparison form of s, which is in the query or not.
func appendNormal(b []byte, s string, query bool) []byte {
	for i := 0; i < len(s); i++ {
		c, keep := s[i], classes[s[i]] != encoded
		if c == '%' {
			if octet, ok := unhex(s[i+1:]); ok {
				c, i = octet, i+2
				keep = classes[c] == raw || classes[c] == slashes && query
			}
		}
		if keep {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return b
}

// unhex reads two hexadecimal digits at the start of s.
func unhex(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := hexValue(s[0]), hexValue(s[1])
	return high<<4 | low&15, high < 16 && low < 16
}

func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
