package robots

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// byteOrderMark is that of UTF-8.
const byteOrderMark = "\uFEFF"

// textOf returns the part of a body that is read, as UTF-8 (section 2.3) without its byte order mark, or what is left
// of one. A file that starts with the mark of UTF-16 is read as that. NULs, which no rule can mean, are passed over;
// what is left of UTF-16 without a mark is its ASCII.
func textOf(body []byte) string {
	cut := len(body) > MaxSize
	if cut {
		body = body[:MaxSize]
	}
	var text string
	switch {
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		text = fromUTF16(body[2:], 0)
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		text = fromUTF16(body[2:], 1)
	default:
		mark := 0
		for mark < len(body) && mark < len(byteOrderMark) && body[mark] == byteOrderMark[mark] {
			mark++
		}
		text = string(body[mark:])
	}
	text = strings.ReplaceAll(text, "\x00", "")
	if cut {
		text = text[:strings.LastIndexAny(text, "\r\n")+1]
	}
	return text
}

// fromUTF16 returns UTF-16 as UTF-8; low is which octet of two is the lower one. What cannot be read becomes U+FFFD.
func fromUTF16(b []byte, low int) string {
	out := make([]byte, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		r := rune(b[low]) | rune(b[1-low])<<8
		if utf16.IsSurrogate(r) && len(b) >= 4 {
			second := rune(b[2+low]) | rune(b[3-low])<<8
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				b = b[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// marked reads a line of a file that has HTML in it: some servers and editors make `<br>` of line ends, and put tags
// around the text. A comment ends with the line, unless all the file is but one line.
func (p *parser) marked(line string, number int32, only bool) {
	for line != "" {
		end, next := lineBreak(line)
		if hash := strings.IndexByte(line[:end], '#'); hash >= 0 && !only {
			end, next = len(line), len(line)
		}
		p.record(withoutTags(line[:end]), number)
		line = line[next:]
	}
}

// lineBreak finds the first `<br>`, `<br/>` or `<br />`: it starts at end, and the next line after it.
func lineBreak(s string) (end, next int) {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			return len(s), len(s)
		}
		at += i
		if len(s)-at < len("<br>") || !strings.EqualFold(s[at+1:at+3], "br") {
			continue
		}
		rest := strings.TrimLeft(s[at+3:], " \t/")
		if strings.HasPrefix(rest, ">") {
			return at, len(s) - len(rest) + 1
		}
	}
}

// withoutTags drops tags at the start and at the end of a line: no path has a raw "<" (RFC 3986).
func withoutTags(s string) string {
	for {
		s = trim(s)
		if end := strings.IndexByte(s, '>'); isTag(s) && end > 0 {
			s = s[end+1:]
			continue
		}
		at := strings.LastIndexByte(s, '<')
		if at < 0 || s[len(s)-1] != '>' || !isTag(s[at:]) {
			return s
		}
		s = s[:at]
	}
}

// isTag reports whether s starts like a tag of HTML.
func isTag(s string) bool {
	if len(s) < 2 || s[0] != '<' {
		return false
	}
	c := s[1] | 0x20
	return 'a' <= c && c <= 'z' || s[1] == '/' || s[1] == '!'
}
