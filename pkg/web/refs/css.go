package refs

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// CSS passes the references of a style sheet, or of a style attribute, to each: url(), @import and the images of
// image-set(). It returns the style sheet with what each wants in their places (CSS Syntax Module Level 3).
func CSS(src []byte, each Each) []byte {
	s := cssScan{output: output{src: src}, each: each}
	for s.pos < len(src) {
		s.token()
	}
	return s.bytes()
}

type cssScan struct {
	output
	each    Each
	pos     int
	importS bool  // within @import: its strings are URLs
	other   bool  // within @namespace or @charset: its URLs name things
	sets    []int // depths of parentheses at which image-set() stands
	depth   int
}

// maxSets bounds image-set() within image-set().
const maxSets = 16

func (s *cssScan) token() {
	switch c := s.src[s.pos]; {
	case c == '/' && s.at("/*"):
		s.comment()
	case c == '"' || c == '\'':
		s.str()
	case c == '@':
		name := s.ident(s.pos + 1)
		s.importS = strings.EqualFold(name, "import")
		s.other = strings.EqualFold(name, "namespace") || strings.EqualFold(name, "charset")
		s.pos += 1 + len(name)
	case c == ';' || c == '{' || c == '}':
		s.importS, s.other = false, false
		s.pos++
	case c == '(':
		s.depth++
		s.pos++
	case c == ')':
		s.depth = max(s.depth-1, 0)
		if n := len(s.sets); n > 0 && s.sets[n-1] > s.depth {
			s.sets = s.sets[:n-1]
		}
		s.pos++
	case c == '\\':
		s.pos = min(s.pos+2, len(s.src))
	case isIdent(c):
		s.word()
	default:
		s.pos++
	}
}

func (s *cssScan) at(text string) bool {
	return strings.HasPrefix(string(s.src[s.pos:min(len(s.src), s.pos+len(text))]), text)
}

func (s *cssScan) comment() {
	if n := bytes.Index(s.src[s.pos+2:], []byte("*/")); n >= 0 {
		s.pos += n + 4
		return
	}
	s.pos = len(s.src)
}

// isIdent reports whether c may be in a name. Digits and dashes count, so that "1url(" is no url(.
func isIdent(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

func (s *cssScan) ident(from int) string {
	end := from
	for end < len(s.src) && isIdent(s.src[end]) {
		end++
	}
	return string(s.src[from:end])
}

// word passes over a name, and reads what is in the parentheses of url() and src().
func (s *cssScan) word() {
	name := s.ident(s.pos)
	s.pos += len(name)
	if s.pos >= len(s.src) || s.src[s.pos] != '(' {
		return
	}
	switch {
	case strings.EqualFold(name, "url"):
		s.url()
	case strings.EqualFold(name, "image-set") || strings.EqualFold(name, "-webkit-image-set"):
		s.pos++
		if s.depth++; len(s.sets) < maxSets {
			s.sets = append(s.sets, s.depth)
		}
	case strings.EqualFold(name, "format") ||
		strings.EqualFold(name, "type"): // of an image-set(): their strings name types
		if n := bytes.IndexByte(s.src[s.pos:], ')'); n >= 0 {
			s.pos += n + 1
			return
		}
		s.pos = len(s.src)
	}
}

// url reads a url( at its parenthesis: a string, or bare.
func (s *cssScan) url() {
	s.pos++
	for s.pos < len(s.src) && isSpace(s.src[s.pos]) {
		s.pos++
	}
	if s.pos >= len(s.src) {
		return
	}
	if c := s.src[s.pos]; c == '"' || c == '\'' {
		s.quoted(true)
		s.depth++
		return
	}
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] != ')' {
		if s.src[s.pos] == '\\' {
			s.pos++
		}
		s.pos++
	}
	s.pos = min(s.pos, len(s.src))
	end := s.pos
	for end > start && isSpace(s.src[end-1]) {
		end--
	}
	s.refer(start, end, 0)
	s.pos = min(s.pos+1, len(s.src))
}

// str reads a string: a URL within @import and image-set().
func (s *cssScan) str() { s.quoted(s.importS || len(s.sets) > 0) }

// quoted reads a string. One that a line end breaks off is no string.
func (s *cssScan) quoted(isURL bool) {
	q, start := s.src[s.pos], s.pos+1
	for s.pos = start; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case '\\':
			s.pos++
		case '\n':
			return
		case q:
			if isURL {
				s.refer(start, s.pos, q)
			}
			s.pos++
			return
		}
	}
	s.pos = len(s.src)
}

// refer passes on the reference at src[start:end], which is in quotes q; 0: in none.
func (s *cssScan) refer(start, end int, q byte) {
	if s.other || start >= end {
		return
	}
	old := unescape(s.src[start:end])
	kind := Asset
	if s.importS {
		kind = Style
	}
	if text := s.each(Ref{URL: old, Kind: kind}); text != old {
		s.replace(start, end, escape(text, q))
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// unescape undoes the escapes of CSS: a backslash before up to six hexadecimal digits, a line end or any character.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	var out []byte
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 >= len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		r, n := hexadecimal(b[i:])
		switch {
		case n > 0:
			out = utf8.AppendRune(out, r)
			if i += n - 1; i+1 < len(b) && isSpace(b[i+1]) {
				i++
			}
		case b[i] == '\n':
		default:
			out = append(out, b[i])
		}
	}
	return string(out)
}

func hexadecimal(b []byte) (r rune, n int) {
	for n < len(b) && n < 6 {
		d := bytes.IndexByte([]byte("0123456789abcdef"), b[n]|0x20)
		if d < 0 || b[n] < '0' {
			break
		}
		r = r<<4 | rune(d)
		n++
	}
	if r == 0 || r > utf8.MaxRune {
		r = utf8.RuneError
	}
	return r, n
}

// escape writes a URL into a string with quotes q, or bare.
func escape(url string, q byte) []byte {
	out := make([]byte, 0, len(url))
	for i := range len(url) {
		switch c := url[i]; {
		case c < ' ' || c == 0x7f, c == '<': // < could end the style element
			out = append(out, '\\', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15], ' ')
			continue
		case c == '\\', c == q && q != 0, q == 0 && strings.IndexByte(`"'() `, c) >= 0:
			out = append(out, '\\')
		}
		out = append(out, url[i])
	}
	return out
}
