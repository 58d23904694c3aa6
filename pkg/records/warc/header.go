package warc

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Bounds of a header from a foreign file.
const (
	maxHeaderBytes = 1 << 20
	maxHeaderLines = 1_000
)

// errNoHeader ends the reading of a header that has no end, or is beyond its bounds.
var errNoHeader = errors.New("the header has no end")

// readLine reads a line without its end; bare reports one that ended in LF without CR. io.EOF: there is none.
func readLine(r *bufio.Reader, limit int) (line string, bare bool, err error) {
	var b []byte
	for {
		part, err := r.ReadSlice('\n')
		b = append(b, part...)
		if len(b) > limit {
			return "", false, errNoHeader
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(b) > 0 {
			return "", false, errNoHeader
		}
		if err != nil {
			return "", false, err
		}
		s := string(b[:len(b)-1])
		line, cr := strings.CutSuffix(s, "\r")
		return line, !cr, nil
	}
}

// readHeader reads named fields up to the blank line. What is wrong with lines is told to bad; the error is
// errNoHeader, or one of r.
func readHeader(r *bufio.Reader, bad func(detail string)) ([]Field, error) {
	var fields []Field
	left := maxHeaderBytes
	for range maxHeaderLines {
		line, bare, err := readLine(r, left)
		if errors.Is(err, io.EOF) {
			err = errNoHeader
		}
		if err != nil {
			return fields, err
		}
		left -= len(line)
		if bare {
			bad("a header line ends without CR")
		}
		if line == "" {
			return fields, nil
		}
		fields = addLine(fields, line, bad)
	}
	return fields, errNoHeader
}

// addLine adds the field of a line, or the line to the field before: a line that begins with white space continues it.
func addLine(fields []Field, line string, bad func(string)) []Field {
	if line[0] == ' ' || line[0] == '\t' {
		if len(fields) == 0 {
			bad("the first header line begins with white space")
			return fields
		}
		last := &fields[len(fields)-1]
		last.Value = strings.TrimSpace(last.Value + " " + strings.TrimSpace(line))
		return fields
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		bad("a header line is not of the form name: value")
		return fields
	}
	return append(fields, Field{name, strings.TrimSpace(value)})
}

// isToken reports whether s is a token as the standard defines it: ASCII without controls and separators.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7F || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
