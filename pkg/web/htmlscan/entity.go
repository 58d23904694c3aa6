package htmlscan

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Value returns the attribute value raw with character references replaced, line ends as \n, and U+FFFD for NUL. It is
// raw itself where there is nothing to replace.
func Value(raw []byte) []byte {
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '\r') < 0 && bytes.IndexByte(raw, 0) < 0 {
		return raw
	}
	return AppendValue(make([]byte, 0, len(raw)), raw)
}

// AppendValue appends what Value returns to dst. What a character reference stands for stays: &#13; is no line end.
func AppendValue(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\r') >= 0 || bytes.IndexByte(raw, 0) >= 0 {
		raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
		raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
		raw = bytes.ReplaceAll(raw, []byte{0}, []byte("\uFFFD"))
	}
	return appendDecoded(dst, raw, true)
}

func appendDecoded(dst, raw []byte, inAttr bool) []byte {
	for {
		n := bytes.IndexByte(raw, '&')
		if n < 0 {
			return append(dst, raw...)
		}
		dst, raw = append(dst, raw[:n]...), raw[n:]
		var size int
		dst, size = AppendRef(dst, raw, inAttr)
		raw = raw[size:]
	}
}

// maxRef is longer than any character reference's name: &CounterClockwiseContourIntegral; has 33 bytes.
const maxRef = 40

// AppendRef appends what the character reference at the start of s ("&…") stands for, and returns how much of s it
// took. What is no reference is appended as it is, at least one byte. In an attribute a name that lacks its semicolon
// and is followed by "=" or an alphanumeric is no reference (HTML Standard, 13.2.5.73), so that ?a=1&copy=2 stays
// whole.
func AppendRef(dst, s []byte, inAttr bool) (out []byte, size int) {
	if len(s) > 1 && s[1] == '#' {
		return appendNumber(dst, s)
	}
	end := 1
	for end < len(s) && end < maxRef && (isAlpha(s[end]) || isDigit(s[end])) {
		end++
	}
	closed := end < len(s) && s[end] == ';'
	if closed {
		end++
	}
	ref := s[:end]
	if c, ok := commonRef(ref); ok {
		return append(dst, c...), end
	}
	if end < 3 || (inAttr && !closed && end < len(s) && s[end] == '=') {
		return append(dst, ref...), end
	}
	decoded := html.UnescapeString(string(ref))
	if inAttr && !wholeRef(decoded, closed, ref) {
		return append(dst, ref...), end
	}
	return append(dst, decoded...), end
}

// appendNumber is AppendRef for s = "&#…", however many digits there are (HTML Standard, 13.2.5.75 to 80).
func appendNumber(dst, s []byte) (out []byte, size int) {
	end, base := 2, rune(10)
	if end < len(s) && s[end]|0x20 == 'x' {
		end, base = 3, 16
	}
	n, digits := rune(0), end
	for ; end < len(s); end++ {
		d := digit(s[end])
		if d >= base {
			break
		}
		n = min(n*base+d, utf8.MaxRune+1)
	}
	if end == digits {
		return append(dst, s[:end]...), end
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	switch {
	case n >= 0x80 && n < 0xa0: // windows-1252 in disguise
		return append(dst, html.UnescapeString("&#"+strconv.Itoa(int(n))+";")...), end
	case n == 0:
		n = utf8.RuneError
	}
	return utf8.AppendRune(dst, n), end // U+FFFD for surrogates and what is beyond Unicode
}

// digit is the value of a hexadecimal digit, 16 for what is none.
func digit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

// wholeRef reports whether decoded stands for all of ref, not for a legacy name that ref only begins with.
func wholeRef(decoded string, closed bool, ref []byte) bool {
	if closed {
		return decoded[len(decoded)-1] != ';' || string(ref) == "&semi;"
	}
	return utf8.RuneCountInString(decoded) == 1 // names without semicolon stand for one rune each
}

func commonRef(ref []byte) (string, bool) {
	switch string(ref) {
	case "&amp;":
		return "&", true
	case "&lt;":
		return "<", true
	case "&gt;":
		return ">", true
	case "&quot;":
		return `"`, true
	case "&nbsp;":
		return "\u00A0", true
	}
	return "", false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
