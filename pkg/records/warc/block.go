package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"strings"
)

// checksum checks a digest field against the bytes written to it.
type checksum struct {
	name  string // of the field
	label string // its value
	want  []byte
	hash.Hash
}

// newChecksum reads a digest field: "algorithm:value", the value in hexadecimal, base32 or base64, as its length tells.
func newChecksum(name, label string) (*checksum, error) {
	algorithm, value, _ := strings.Cut(label, ":")
	var h hash.Hash
	switch strings.ReplaceAll(strings.ToLower(algorithm), "-", "") {
	case "md5":
		h = md5.New()
	case "sha1":
		h = sha1.New()
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	default:
		return nil, fmt.Errorf("%s: %q: an algorithm that cannot be checked", name, label)
	}
	want, err := decodeDigest(value, h.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", name, label, err)
	}
	return &checksum{name, label, want, h}, nil
}

func decodeDigest(value string, size int) ([]byte, error) {
	padded := strings.TrimRight(value, "=")
	switch len(padded) {
	case size * 2:
		return hex.DecodeString(padded)
	case base32.StdEncoding.WithPadding(base32.NoPadding).EncodedLen(size):
		return base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(padded))
	case base64.RawStdEncoding.EncodedLen(size):
		return base64.RawStdEncoding.DecodeString(padded)
	}
	return nil, fmt.Errorf("%d characters are no digest of %d bytes", len(value), size)
}

// check returns what is wrong; "" when nothing is.
func (c *checksum) check() string {
	if got := c.Sum(nil); !bytes.Equal(got, c.want) {
		return fmt.Sprintf("%s is %s, but the content's is %x", c.name, c.label, got)
	}
	return ""
}

// httpBlock is an io.Writer that finds the end of an HTTP message's headers and passes the payload on.
type httpBlock struct {
	head    []byte
	done    bool
	payload *checksum // may be nil
}

func (h *httpBlock) Write(p []byte) (int, error) {
	n := len(p)
	if !h.done {
		if len(h.head) > maxHeaderBytes {
			return n, nil // it will be reported as a header without end
		}
		before := len(h.head)
		h.head = append(h.head, p...)
		end := headEnd(h.head, max(0, before-3))
		if end < 0 {
			return n, nil
		}
		h.done, p = true, h.head[end:]
		h.head = h.head[:end:end]
	}
	if h.payload != nil {
		h.payload.Write(p)
	}
	return n, nil
}

// headEnd returns the length of the headers with their blank line, looking from offset from on; -1: no blank line yet.
// Servers that end lines with a bare LF are a fact, and their answers are kept as they came.
func headEnd(b []byte, from int) int {
	end := -1
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(b[from:], []byte(blank)); i >= 0 && (end < 0 || from+i+len(blank) < end) {
			end = from + i + len(blank)
		}
	}
	return end
}

var (
	statusLine  = regexp.MustCompile(`^HTTP/\d(\.\d)? \d{3}( [^\r\n]*)?\r?\n`)
	requestLine = regexp.MustCompile(`^[!#$%&'*+.^_\x60|~0-9A-Za-z-]+ [^\s]+ HTTP/\d(\.\d)?\r?\n`)
)

// check returns what is wrong with the message's head; "" when nothing is.
func (h *httpBlock) check(request bool) string {
	switch {
	case !h.done:
		return "the HTTP headers have no end"
	case request && !requestLine.Match(h.head):
		return fmt.Sprintf("no HTTP request line: %.60q", h.head)
	case !request && !statusLine.Match(h.head):
		return fmt.Sprintf("no HTTP status line: %.60q", h.head)
	}
	return ""
}
