package charsets

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// EncodeQuery writes the characters beyond ASCII in the query of ref in the page's encoding, percent-encoded, as
// servers of such pages expect (URL Standard, percent-encode after encoding). A character that the encoding lacks
// becomes an HTML character reference. Where enc is nil, the query is in UTF-8 already.
func EncodeQuery(ref string, enc encoding.Encoding) string {
	start := strings.IndexByte(ref, '?')
	if enc == nil || start < 0 || !beyondASCII(ref[start:]) {
		return ref
	}
	query, fragment, hasFragment := strings.Cut(ref[start:], "#")
	var b strings.Builder
	b.WriteString(ref[:start])
	e := enc.NewEncoder()
	for _, r := range query {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
			continue
		}
		out, err := e.String(string(r))
		if err != nil {
			out = "&#" + strconv.Itoa(int(r)) + ";"
		}
		writePercent(&b, out)
	}
	if hasFragment {
		b.WriteByte('#')
		b.WriteString(fragment)
	}
	return b.String()
}

func beyondASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func writePercent(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf || strings.IndexByte("&#;", c) >= 0:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
}
