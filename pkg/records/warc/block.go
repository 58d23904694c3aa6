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
	create func() hash.Hash
	other  hash.Hash // of the content in another form, which may be meant as well; nil: there is none
}

// newChecksum reads a digest field: "algorithm:value", the value in hexadecimal, base32 or base64, as its length tells.
func newChecksum(name, label string) (*checksum, error) {
	algorithm, value, _ := strings.Cut(label, ":")
	create, ok := algorithms[strings.ReplaceAll(strings.ToLower(algorithm), "-", "")]
	if !ok {
		return nil, fmt.Errorf("%s: %q: an algorithm that cannot be checked", name, label)
	}
	h := create()
	want, err := decodeDigest(value, h.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", name, label, err)
	}
	return &checksum{name: name, label: label, want: want, Hash: h, create: create}, nil
}

// algorithms makes hashes by their names without hyphens.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384,
	"sha512": sha512.New,
}

// also returns what hashes another form of the content, whose digest is as good.
func (c *checksum) also() hash.Hash {
	c.other = c.create()
	return c.other
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
	got := c.Sum(nil)
	if !bytes.Equal(got, c.want) && (c.other == nil || !bytes.Equal(c.other.Sum(nil), c.want)) {
		return fmt.Sprintf("%s is %s, but the content's is %x", c.name, c.label, got)
	}
	return ""
}

// httpBlock is an io.Writer that finds the end of an HTTP message's headers and passes the payload on.
//
// Where the body is kept in chunks its digest may be of what the chunks hold, which the standard means by payload (the
// entity-body of HTTP, section 5.9), or of the chunks, as many tools wrote it. Both are right here.
type httpBlock struct {
	head    []byte
	done    bool
	payload *checksum // may be nil
	chunks  *dechunker
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
		if h.payload != nil && isChunked(h.head) {
			h.chunks = &dechunker{to: h.payload.also()}
		}
	}
	if h.payload != nil {
		h.payload.Write(p)
	}
	if h.chunks != nil {
		h.chunks.Write(p) //nolint:errcheck // never fails
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
