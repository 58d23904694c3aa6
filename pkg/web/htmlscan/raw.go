package htmlscan

import "bytes"

// rawText reads the text of the element s.raw up to its end tag, which is left to be read, or to the end.
func (s *Scanner) rawText() {
	start, end := s.pos, len(s.src)
	switch s.raw {
	case Plaintext:
	case Script:
		end = s.scriptEnd(start)
	default:
		end = s.rawEnd(start, s.raw)
	}
	s.isRaw = s.raw != Title && s.raw != Textarea
	s.text, s.pos, s.raw = span{int32(start), int32(end)}, end, 0
}

// rawEnd returns the offset of the end tag of t at or after i.
func (s *Scanner) rawEnd(i int, t Tag) int {
	for {
		n := bytes.Index(s.src[i:], []byte("</"))
		if n < 0 {
			return len(s.src)
		}
		i += n
		if s.tagAt(i+2, t.String()) {
			return i
		}
		i += 2
	}
}

// tagAt reports whether the tag name is at i, followed by something that ends a tag name.
func (s *Scanner) tagAt(i int, name string) bool {
	end := i + len(name)
	if end >= len(s.src) || !bytes.EqualFold(s.src[i:end], []byte(name)) {
		return false
	}
	c := s.src[end]
	return isSpace(c) || c == '/' || c == '>'
}

// scriptEnd returns the offset of the </script> that ends the script text at i. Inside "<!--" a <script> hides the next
// </script> (HTML Standard, 13.2.5.15 to 13.2.5.31).
func (s *Scanner) scriptEnd(i int) int {
	const (
		data = iota
		escaped
		doubleEscaped
	)
	state, dashes := data, 0 // dashes: offset of the next "-->", where state is not data
	for {
		n := bytes.IndexByte(s.src[i:], '<')
		if state != data && dashes < i {
			dashes = s.index(i, "-->")
		}
		if state != data && dashes < len(s.src) && (n < 0 || dashes < i+n) {
			state, i = data, dashes+3
			continue
		}
		if n < 0 {
			return len(s.src)
		}
		i += n
		switch {
		case state == data && bytes.HasPrefix(s.src[i:], []byte("<!--")):
			state, i, dashes = escaped, i+2, 0 // the dashes of "<!--" may be those of "-->"
		case s.tagAt(i+1, "/script"):
			if state != doubleEscaped {
				return i
			}
			state, i = escaped, i+len("</script")
		case state == escaped && s.tagAt(i+1, "script"):
			state, i = doubleEscaped, i+len("<script")
		default:
			i++
		}
	}
}

func (s *Scanner) index(i int, mark string) int {
	if n := bytes.Index(s.src[i:], []byte(mark)); n >= 0 {
		return i + n
	}
	return len(s.src)
}
