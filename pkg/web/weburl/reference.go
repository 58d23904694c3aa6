package weburl

import (
	"strings"
	"unicode/utf8"
)

// reference is an input cut at its outermost delimiters. Cutting first is sound: in every state of the standard's
// machine the first '#' begins the fragment, and before it the first '?' begins the query.
type reference struct {
	scheme      string // lower-case, empty when there is none
	rest        string // between the scheme and the query
	query       string
	hasQuery    bool
	fragment    string
	hasFragment bool
}

func newReference(raw string) reference {
	var ref reference
	in := cleanInput(raw)
	in, ref.fragment, ref.hasFragment = strings.Cut(in, "#")
	in, ref.query, ref.hasQuery = strings.Cut(in, "?")
	ref.scheme, ref.rest = cutScheme(in)
	return ref
}

// cleanInput trims C0 controls and spaces at the ends, drops tabs and newlines anywhere, and makes the text valid
// UTF-8.
func cleanInput(s string) string {
	s = trimControls(s)
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.Map(dropNewline, s)
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // U+FFFD for each byte that is no UTF-8
	}
	return s
}

func trimControls(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

func dropNewline(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return -1
	}
	return r
}

// cutScheme splits "scheme:rest"; without a valid scheme it returns "" and s.
func cutScheme(s string) (scheme, rest string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return lowerScheme(s[:i]), s[i+1:]
		default:
			return "", s
		}
	}
	return "", s
}

func lowerScheme(s string) string {
	switch s { // the schemes of pages need no search for capitals
	case "http", "https", "mailto", "javascript", "tel", "data":
		return s
	}
	return strings.ToLower(s)
}
