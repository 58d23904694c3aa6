package htmlscan

import "bytes"

// Kind is the kind of a token.
type Kind uint8

// The kinds.
const (
	End      Kind = iota // no more tokens
	Text                 // character data; Scanner.Text has it
	StartTag             // <name …>, self-closing or not
	EndTag               // </name …>
)

// MaxAttrs bounds the attributes that are remembered of one tag; the rest of them are passed over.
const MaxAttrs = 4096

// Scanner reads the tokens of a document. The zero Scanner is at the end of an empty one.
type Scanner struct {
	src   []byte
	pos   int
	name  span
	text  span
	attrs []attr
	lower []byte // scratch for names with capital letters
	tag   Tag
	raw   Tag // the element whose raw text comes next
	isRaw bool
	cdata bool
	slash bool
}

type span struct{ start, end int32 }

type attr struct{ name, val span }

// MaxDocument bounds a document, in bytes, as offsets have 32 bits. What is beyond is not read.
const MaxDocument = 1<<31 - 1

// Reset starts over with the document src, which must not change until the last token was used.
func (s *Scanner) Reset(src []byte) {
	if len(src) > MaxDocument {
		src = src[:MaxDocument]
	}
	*s = Scanner{src: src, attrs: s.attrs[:0], lower: s.lower[:0]}
}

// AllowCDATA says whether <![CDATA[ … ]]> is text, as in SVG, MathML and XHTML, or a comment, as in HTML.
func (s *Scanner) AllowCDATA(yes bool) { s.cdata = yes }

// NextIsMarkup makes the content of the start tag that was just read ordinary markup, even where HTML has raw text: for
// elements of SVG and MathML that share a name with HTML's.
func (s *Scanner) NextIsMarkup() { s.raw = 0 }

// Offset is the number of bytes read so far.
func (s *Scanner) Offset() int { return s.pos }

// Next goes to the next token. Comments and doctypes are passed over.
func (s *Scanner) Next() Kind {
	for s.pos < len(s.src) {
		if s.raw != 0 {
			if s.rawText(); s.text.start < s.text.end {
				return Text
			}
			continue
		}
		if k := s.markup(); k != End {
			return k
		}
	}
	return End
}

// markup reads one token; End stands for something passed over.
func (s *Scanner) markup() Kind {
	if open := s.tagOpen(s.pos); open > s.pos {
		s.text, s.isRaw = span{int32(s.pos), int32(open)}, false
		s.pos = open
		return Text
	}
	switch s.src[s.pos+1] {
	case '!':
		return s.declaration()
	case '?':
		s.skipPast(s.pos+2, ">")
		return End
	case '/':
		return s.endTag()
	}
	return s.startTag()
}

// tagOpen returns where the text that starts at i ends: at a "<" that opens markup, or at the end.
func (s *Scanner) tagOpen(i int) int {
	for {
		n := bytes.IndexByte(s.src[i:], '<')
		if n < 0 || i+n+1 >= len(s.src) {
			return len(s.src)
		}
		i += n
		c := s.src[i+1]
		if isAlpha(c) || c == '!' || c == '?' || (c == '/' && i+2 < len(s.src)) {
			return i
		}
		i++
	}
}

func (s *Scanner) startTag() Kind {
	if !s.readTag(s.pos + 1) {
		return End
	}
	if s.tag.rawText() {
		s.raw = s.tag
	}
	return StartTag
}

func (s *Scanner) endTag() Kind {
	i := s.pos + 2
	if !isAlpha(s.src[i]) {
		s.skipPast(i, ">") // a bogus comment; "</>" is nothing at all
		return End
	}
	if !s.readTag(i) {
		return End
	}
	s.attrs = s.attrs[:0]
	return EndTag
}

// declaration passes over a comment or doctype, and reads a CDATA section where there may be one.
func (s *Scanner) declaration() Kind {
	rest := s.src[s.pos+2:]
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		s.pos = s.commentEnd(s.pos + 4)
		return End
	case s.cdata && bytes.HasPrefix(rest, []byte("[CDATA[")):
		start := s.pos + len("<![CDATA[")
		s.skipPast(start, "]]>")
		end := s.pos
		if bytes.HasSuffix(s.src[start:end], []byte("]]>")) {
			end -= 3
		}
		s.text, s.isRaw = span{int32(start), int32(end)}, true
		if start == end {
			return End
		}
		return Text
	}
	s.skipPast(s.pos+2, ">")
	return End
}

// commentEnd returns the offset behind the comment whose text starts at i: after "-->", "--!>", or at once
// after ">" or "->".
func (s *Scanner) commentEnd(i int) int {
	switch rest := s.src[i:]; {
	case bytes.HasPrefix(rest, []byte(">")):
		return i + 1
	case bytes.HasPrefix(rest, []byte("->")):
		return i + 2
	}
	for {
		n := bytes.Index(s.src[i:], []byte("--"))
		if n < 0 {
			return len(s.src)
		}
		i += n + 2
		switch rest := s.src[i:]; {
		case bytes.HasPrefix(rest, []byte(">")):
			return i + 1
		case bytes.HasPrefix(rest, []byte("!>")):
			return i + 2
		}
		i-- // the second dash may be the first of "-->"
	}
}

func (s *Scanner) skipPast(i int, mark string) {
	if n := bytes.Index(s.src[i:], []byte(mark)); n >= 0 {
		s.pos = i + n + len(mark)
		return
	}
	s.pos = len(s.src)
}

// Tag is the tag's number; Other for names that have none.
func (s *Scanner) Tag() Tag { return s.tag }

// SelfClosing reports whether the start tag ends in "/>", which means something in SVG, MathML and XHTML only.
func (s *Scanner) SelfClosing() bool { return s.slash }

// Text returns the token's text as it is in the document, and whether it may hold character references.
func (s *Scanner) Text() (text []byte, escaped bool) {
	return s.src[s.text.start:s.text.end], !s.isRaw
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }
