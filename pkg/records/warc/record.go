package warc

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// recordID is a random UUID (RFC 9562, version 4). Random and not derived from the URL: an exchange that happens twice
// is two captures.
type recordID [16]byte

func newID() recordID { return idOf(nil) }

// idOf makes an id of 16 random octets; of none, one of its own.
func idOf(random crawl.Capture) (id recordID) {
	if copy(id[:], random) != len(id) {
		_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	}
	id[6] = id[6]&0x0F | 0x40
	id[8] = id[8]&0x3F | 0x80
	return id
}

// append appends the id as it is in a header: <urn:uuid:…>.
func (id recordID) append(b []byte) []byte {
	b = append(b, "<urn:uuid:"...)
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return append(b, '>')
}

func (id recordID) String() string { return string(id.append(nil)) }

// dateFormat is that of WARC-Date: milliseconds, as in pages.jsonl. WARC 1.1 allows up to nine decimals.
const dateFormat = "2006-01-02T15:04:05.000Z"

func date(t time.Time) string { return t.UTC().Format(dateFormat) }

// Content types of blocks.
const (
	typeResponse = "application/http;msgtype=response"
	typeRequest  = "application/http;msgtype=request"
	typeFields   = "application/warc-fields"
)

// record is one WARC record on its way to the file; its block is head followed by body.
type record struct {
	kind, contentType string
	id                recordID
	date              time.Time
	fields            []Field // further headers, in order; those with an empty value are left out
	head, body        []byte
}

// encoder turns records into gzip members, one after the other in out. It is used by one goroutine at a time and kept
// for the next: a gzip writer holds large tables.
type encoder struct {
	out    []byte
	gz     *gzip.Writer
	sum    hash.Hash
	header []byte
	http   []byte
}

func newEncoder(level int) (*encoder, error) {
	gz, err := gzip.NewWriterLevel(nil, level)
	return &encoder{gz: gz, sum: sha256.New()}, err
}

// Write appends what the gzip writer made.
func (e *encoder) Write(p []byte) (int, error) {
	e.out = append(e.out, p...)
	return len(p), nil
}

// record appends r as one gzip member.
func (e *encoder) record(r *record) error {
	e.sum.Reset()
	e.sum.Write(r.head)
	e.sum.Write(r.body)
	var block crawl.Digest
	e.sum.Sum(block[:0])

	b := e.header[:0]
	b = append(b, "WARC/1.1\r\nWARC-Type: "...)
	b = append(append(b, r.kind...), "\r\nWARC-Record-ID: "...)
	b = append(r.id.append(b), "\r\nWARC-Date: "...)
	b = append(r.date.UTC().AppendFormat(b, dateFormat), "\r\n"...)
	b = appendFields(b, r.fields)
	b = append(append(b, "WARC-Block-Digest: "...), block.String()...)
	b = append(append(b, "\r\nContent-Type: "...), r.contentType...)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(r.head)+len(r.body)), 10)
	b = append(b, "\r\n\r\n"...)
	e.header = b

	e.gz.Reset(e)
	for _, part := range [][]byte{e.header, r.head, r.body, []byte("\r\n\r\n")} {
		if _, err := e.gz.Write(part); err != nil {
			return err
		}
	}
	return e.gz.Close()
}

// appendFields appends named values a line each. A value never brings a line of its own.
func appendFields(b []byte, fields []Field) []byte {
	for _, f := range fields {
		if f.Value != "" {
			b = append(append(b, f.Name...), ": "...)
			b = append(append(b, oneLine(f.Value)...), "\r\n"...)
		}
	}
	return b
}

// oneLine replaces the control characters that neither a WARC nor an HTTP field may hold (RFC 9110, 5.5). It works on
// bytes: a field in Latin-1 stays as it came.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if isControl(rune(c)) {
			b[i] = ' '
		}
	}
	return string(b)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }
