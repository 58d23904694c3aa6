package htmlscan

import "bytes"

// readTag reads the tag whose name starts at i. A tag that the document ends in is no tag (eof-in-tag): then it returns
// false and nothing is left to read.
func (s *Scanner) readTag(i int) bool {
	s.attrs = s.attrs[:0]
	end := i + 1
	for end < len(s.src) && !isSpace(s.src[end]) && s.src[end] != '/' && s.src[end] != '>' {
		end++
	}
	s.name = span{int32(i), int32(end)}
	for i = end; ; {
		from := i
		for i < len(s.src) && (isSpace(s.src[i]) || s.src[i] == '/') {
			i++
		}
		if i >= len(s.src) {
			s.pos = len(s.src)
			return false
		}
		if s.src[i] == '>' {
			s.slash = i > from && s.src[i-1] == '/'
			break
		}
		i = s.readAttr(i)
	}
	s.pos = i + 1
	s.tag = lookup(s.lowered(s.name))
	return true
}

// readAttr reads the attribute that starts at i and returns the offset behind it.
func (s *Scanner) readAttr(i int) int {
	a := attr{}
	a.name.start = int32(i)
	i++ // a "=" in the first place belongs to the name
	for i < len(s.src) && !endsName[s.src[i]] {
		i++
	}
	a.name.end = int32(i)
	for i < len(s.src) && isSpace(s.src[i]) {
		i++
	}
	if i < len(s.src) && s.src[i] == '=' {
		a.val, i = s.readValue(i + 1)
	}
	if len(s.attrs) < MaxAttrs {
		s.attrs = append(s.attrs, a)
	}
	return i
}

// endsName marks the bytes that end an attribute's name.
var endsName = [256]bool{'=': true, ' ': true, '\n': true, '\r': true, '\t': true, '\f': true, '/': true, '>': true}

func (s *Scanner) readValue(i int) (val span, next int) {
	for i < len(s.src) && isSpace(s.src[i]) {
		i++
	}
	if i >= len(s.src) {
		return val, i
	}
	if q := s.src[i]; q == '"' || q == '\'' {
		n := bytes.IndexByte(s.src[i+1:], q)
		if n < 0 {
			return val, len(s.src)
		}
		return span{int32(i + 1), int32(i + 1 + n)}, i + n + 2
	}
	start := i
	for i < len(s.src) && !isSpace(s.src[i]) && s.src[i] != '>' {
		i++
	}
	return span{int32(start), int32(i)}, i
}

// Attrs is the number of the start tag's attributes.
func (s *Scanner) Attrs() int { return len(s.attrs) }

// Attr returns the i-th attribute: its name in lower case, valid until the next call, and its value as it is in the
// document. Of attributes with one name the first counts; repeated ones are returned all the same.
func (s *Scanner) Attr(i int) (name, val []byte) {
	a := s.attrs[i]
	return s.lowered(a.name), s.src[a.val.start:a.val.end]
}

func (s *Scanner) lowered(x span) []byte {
	b := s.src[x.start:x.end]
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			return s.toLower(b)
		}
	}
	return b
}

func (s *Scanner) toLower(b []byte) []byte {
	s.lower = s.lower[:0]
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		s.lower = append(s.lower, c)
	}
	return s.lower
}

// ValueSpan is where the value of the i-th attribute lies in the document, without its quotes. quote is the quote that
// it is in; 0: none.
func (s *Scanner) ValueSpan(i int) (start, end int, quote byte) {
	v := s.attrs[i].val
	if start, end = int(v.start), int(v.end); end > 0 && end < len(s.src) && (s.src[end] == '"' || s.src[end] == '\'') &&
		s.src[start-1] == s.src[end] {
		quote = s.src[end]
	}
	return start, end, quote
}

// NameSpan is where the name of the i-th attribute lies in the document.
func (s *Scanner) NameSpan(i int) (start, end int) {
	n := s.attrs[i].name
	return int(n.start), int(n.end)
}
