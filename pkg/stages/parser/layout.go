package parser

import "bytes"

// The text of a page keeps the lines that the page itself makes: those of pre, with their indents, and those that br
// elements end. All other white space is a space.

// maxIndent bounds the white space within a line of pre, in bytes.
const maxIndent = 256

// lay notes the white space of pre at the start of raw. Of empty lines in a row one is kept.
func (t *textState) lay(raw []byte) {
	switch c := raw[0]; {
	case c == '\r' && len(raw) > 1 && raw[1] == '\n':
	case c == '\n' || c == '\r':
		t.newLine()
	case len(t.layout) < maxIndent && (c == ' ' || c == '\t'):
		t.layout = append(t.layout, c)
	}
}

// newLine ends a line, with the white space at its end.
func (t *textState) newLine() {
	t.layout = bytes.TrimRight(t.layout, " \t")
	if len(t.layout) < len("\n\n") {
		t.layout = append(t.layout, '\n')
	}
}

// layOut writes the white space before a word. A block begins with a word, or with the indent of one.
func (t *textState) layOut(begins bool) {
	if begins {
		t.layout = t.layout[bytes.LastIndexByte(t.layout, '\n')+1:]
	}
	t.buf = append(t.buf, t.layout...)
	t.layout = t.layout[:0]
}

// breakLine ends a line. Two line breaks in a row end a paragraph; a heading is one line, whatever breaks it.
func (t *textState) breakLine() {
	t.space = true
	end := int32(len(t.buf))
	switch {
	case t.kind == pre:
		t.newLine()
	case end > t.cur.start && t.broken == end:
		own := t.own
		t.endBlock()
		t.own, t.space = own, true
	default:
		t.broken = end
		if t.kind != heading && end > t.cur.start && len(t.layout) == 0 {
			t.layout = append(t.layout, '\n')
		}
	}
}
