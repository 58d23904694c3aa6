package fetcher

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// statusLine finds version and status of a line that browsers take for a status line: in any case, with any number of
// spaces, with any version or that of Shoutcast, and with a little before it.
var statusLine = regexp.MustCompile(`^.{0,4}?(?i:(http)(?:/([0-9.]*))?|icy)[ \t]+([0-9]{3})(?:[^0-9].*)?$`)

// mendHead returns the head of an answer as net/http reads it, whether another one follows, and whether a body in
// chunks does. As in browsers, lines that are no fields are passed over, and so are lengths and transfer encodings that
// say nothing.
func mendHead(head []byte) (mended []byte, interim, chunked bool) {
	lines := logicalLines(string(head))
	if len(lines) == 0 {
		return head, false, false
	}
	first, status, ok := mendStatusLine(lines[0])
	if !ok {
		return head, false, false
	}
	out := bytes.NewBuffer(make([]byte, 0, len(head)+2))
	out.WriteString(first + "\r\n")
	var f framing
	for _, line := range lines[1:] {
		name, value, found := strings.Cut(line, ":")
		name = strings.TrimRight(name, " \t")
		if !found || !isToken(name) {
			continue
		}
		value = clean(value)
		if !f.take(name, value) {
			out.WriteString(name + ": " + value + "\r\n")
		}
	}
	f.write(out)
	out.WriteString("\r\n")
	return out.Bytes(), status[0] == '1' && status != "101", f.chunked && !strings.HasPrefix(first, "HTTP/1.0")
}

// needsNothing reports whether an answer that begins so has its whole head there, and nothing in it or in its body is
// to be mended: as most do.
func needsNothing(answer []byte) bool {
	var lengths int
	for first := true; ; first = false {
		i := bytes.IndexByte(answer, '\n')
		if i < 1 || answer[i-1] != '\r' {
			return false
		}
		line := answer[:i-1]
		answer = answer[i+1:]
		if len(line) == 0 {
			return !first
		}
		if first {
			if status, ok := strictStatus(string(line)); !ok || status[0] == '1' {
				return false
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(name) == len(line) || !isToken(name) || slices.ContainsFunc(value, isControlOctet) {
			return false
		}
		switch {
		case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
			if lengths++; lengths > 1 || !isNumber(bytes.TrimSpace(value)) {
				return false
			}
		case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return false
		}
	}
}

// isControlOctet reports whether an octet may be in no value of a field.
func isControlOctet(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

func isNumber(b []byte) bool {
	return len(b) > 0 && len(b) < 19 && !slices.ContainsFunc(b, func(c byte) bool { return c < '0' || c > '9' })
}

// logicalLines are the lines of a head without those that are blank; lines that are folded are one.
func logicalLines(head string) (lines []string) {
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
		case len(lines) > 1 && (line[0] == ' ' || line[0] == '\t'):
			lines[len(lines)-1] += " " + strings.TrimLeft(line, " \t")
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// mendStatusLine returns a status line as net/http reads it, with its status.
func mendStatusLine(line string) (mended, status string, ok bool) {
	if status, ok = strictStatus(line); ok {
		return line, status, true
	}
	m := statusLine.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	status = m[3]
	version := "1.1"
	if m[1] == "" || strings.HasPrefix(m[2], "0") || m[2] == "1.0" {
		version = "1.0"
	}
	_, reason, _ := strings.Cut(line, status)
	return "HTTP/" + version + " " + status + " " + clean(reason), status, true
}

// strictStatus is the status of a line as RFC 9112 wants it.
func strictStatus(line string) (string, bool) {
	const form = "HTTP/1.1 200"
	if len(line) < len(form) || !strings.HasPrefix(line, "HTTP/1.") || len(line) > len(form) && line[len(form)] != ' ' {
		return "", false
	}
	for _, i := range []int{7, 9, 10, 11} {
		if line[i] < '0' || line[i] > '9' {
			return "", false
		}
	}
	return line[9:12], line[8] == ' '
}

// isToken reports whether s may be the name of a field (RFC 9110, section 5.1).
func isToken[S string | []byte](s S) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return len(s) > 0
}

// clean is a value without octets that no value may have.
func clean(value string) string {
	value = strings.Trim(value, " \t\r")
	for i := range len(value) {
		if isControlOctet(value[i]) {
			b := []byte(value)
			for j := range b {
				if isControlOctet(b[j]) {
					b[j] = ' '
				}
			}
			return strings.Trim(string(b), " \t")
		}
	}
	return value
}

// framing is what a head says of where its body ends.
type framing struct {
	chunked bool
	codings []string // that the transfer adds
	lengths []string
}

// take notes a field that tells where the body ends, and reports whether it is one.
func (f *framing) take(name, value string) bool {
	switch {
	case strings.EqualFold(name, "Transfer-Encoding"):
		for coding := range strings.SplitSeq(value, ",") {
			switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
			case "chunked":
				f.chunked = true
			case "gzip", "x-gzip", "deflate":
				f.codings = append(f.codings, coding)
			}
		}
		return true
	case strings.EqualFold(name, "Content-Length"):
		for length := range strings.SplitSeq(value, ",") {
			length = strings.TrimSpace(length)
			if n, err := strconv.ParseUint(length, 10, 63); err == nil {
				f.lengths = append(f.lengths, strconv.FormatUint(n, 10))
			}
		}
		return true
	}
	return false
}

// write writes what the head says. Lengths that differ are left to net/http, which refuses them.
func (f *framing) write(out *bytes.Buffer) {
	for _, coding := range f.codings {
		out.WriteString("Content-Encoding: " + coding + "\r\n")
	}
	if f.chunked {
		out.WriteString("Transfer-Encoding: chunked\r\n")
	}
	for i, length := range f.lengths {
		if i == 0 || length != f.lengths[0] {
			out.WriteString("Content-Length: " + length + "\r\n")
		}
	}
}
