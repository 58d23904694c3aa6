package htmlscan

// TagSpan is where the tag that was just read is in the document.
func (s *Scanner) TagSpan() (start, end int) {
	start = int(s.name.start) - 1
	if s.src[start] == '/' {
		start--
	}
	return start, s.pos
}

// TextSpan is where the text that was just read is in the document.
func (s *Scanner) TextSpan() (start, end int) { return int(s.text.start), int(s.text.end) }

// Name is the name of the tag that was just read, as it is in the document.
func (s *Scanner) Name() []byte { return s.src[s.name.start:s.name.end] }

// Source is the document.
func (s *Scanner) Source() []byte { return s.src }
