package weburl

// A class is a set of bits, one for each percent-encode set of the URL Standard, section 1.3. A byte that carries the
// bit of a set is encoded in the component that uses the set.
type class uint8

const (
	inControl      class = 1 << iota // C0 control percent-encode set
	inFragment                       // fragment percent-encode set
	inQuery                          // query percent-encode set
	inSpecialQuery                   // special-query percent-encode set
	inPath                           // path percent-encode set
	inUserinfo                       // userinfo percent-encode set
	inSlash                          // not a percent-encode set: the slashes that end a segment of a special URL
)

var classes = buildClasses()

func buildClasses() (t [256]class) {
	const all = inControl | inFragment | inQuery | inSpecialQuery | inPath | inUserinfo
	for c := range t {
		if c < 0x20 || c > 0x7e {
			t[c] = all
		}
	}
	add := func(set class, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= set
		}
	}
	add(inFragment, " \"<>`")
	add(inQuery|inSpecialQuery|inPath|inUserinfo, " \"#<>")
	add(inSpecialQuery, "'")
	add(inPath|inUserinfo, "?^`{}")
	add(inUserinfo, "/:;=@[\\]|")
	add(inSlash, `/\`)
	return t
}

const upperHex = "0123456789ABCDEF"

// appendEncoded appends s with the bytes of the set percent-encoded. '%' is in no set, so triplets pass untouched.
func appendEncoded(dst []byte, s string, set class) []byte {
	from := 0
	for i := range len(s) {
		if c := s[i]; classes[c]&set != 0 {
			dst = append(append(dst, s[from:i]...), '%', upperHex[c>>4], upperHex[c&15])
			from = i + 1
		}
	}
	return append(dst, s[from:]...)
}

// encode is appendEncoded for a string of its own; it returns s itself when nothing needs encoding.
func encode(s string, set class) string {
	for i := range len(s) {
		if classes[s[i]]&set != 0 {
			return string(appendEncoded(make([]byte, 0, len(s)+16), s, set))
		}
	}
	return s
}

// triplet reports whether s starts with a percent-encoded byte, and which.
func triplet(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, lo := unhex(s[1]), unhex(s[2])
	return hi<<4 | lo&15, hi < 16 && lo < 16
}

// unhex returns the value of a hex digit, or 16 or more.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}

// decode replaces every percent-encoded byte of s.
func decode(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := triplet(s[i:]); ok {
			out = append(out, c)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}
