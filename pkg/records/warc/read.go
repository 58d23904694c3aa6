package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Capture is a response or revisit record of an archive, without its body.
type Capture struct {
	File   string // the file that holds it
	Offset int64  // where its gzip member begins
	Length int64  // of the member
	ID     string
	Type   string // response or revisit
	URL    string
	Date   time.Time
	Status int
	Header http.Header
	// Digest is WARC-Payload-Digest. Of a revisit it is that of the response that it refers to.
	Digest string
	// RefersTo and RefersDate name the response whose body a revisit has; empty: the record has one, or names none.
	RefersTo   string
	RefersDate time.Time
	Truncated  string
}

// MediaType is the answer's media type in lower case, without parameters.
func (c *Capture) MediaType() string {
	t, _, _ := strings.Cut(c.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// Files returns the archive's files in a directory, the one that is being written among them, in the order in which
// they were written.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	var files []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), openSuffix); strings.HasSuffix(name, ".warc.gz") && e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// ReadCaptures reads the captures of a file, one after the other, and returns where its last whole record ends. A file
// that is being written, or was when its process was killed, may go on behind that: it is no error. An error of each
// ends the reading.
func ReadCaptures(file string, each func(*Capture) error) (end int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, fmt.Errorf("read the archive: %w", err)
	}
	defer f.Close()
	m, content := newMembers(f), bufio.NewReaderSize(nil, 64<<10)
	for {
		offset := m.offset()
		body, err := m.next()
		if errors.Is(err, io.EOF) {
			return offset, nil
		}
		var c *Capture
		if err == nil {
			content.Reset(body)
			c, err = readCapture(content)
		}
		if err == nil {
			err = drain(content)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && strings.HasSuffix(file, openSuffix) {
			return offset, nil
		}
		if err != nil {
			return offset, fmt.Errorf("read %s, offset %d: %w; `whirlpool tool warc` tells more", file, offset, err)
		}
		if c == nil {
			continue
		}
		c.File, c.Offset, c.Length = file, offset, m.offset()-offset
		if err := each(c); err != nil {
			return offset, err
		}
	}
}

// Body calls use with the body of a capture, which is a response.
func (c *Capture) Body(use func(io.Reader) error) error {
	f, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(c.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	member, err := newMembers(io.LimitReader(f, c.Length)).next()
	if err != nil {
		return fmt.Errorf("read %s, offset %d: %w", c.File, c.Offset, err)
	}
	r := bufio.NewReaderSize(member, 64<<10)
	h, err := recordHeader(r)
	if err != nil {
		return fmt.Errorf("read %s, offset %d: %w", c.File, c.Offset, err)
	}
	block := bufio.NewReaderSize(io.LimitReader(r, h.length), 64<<10)
	if _, _, err := answerHead(block); err != nil {
		return fmt.Errorf("read %s, offset %d: %w", c.File, c.Offset, err)
	}
	return use(block)
}

// recordHead is the header of a record that is being read.
type recordHead struct {
	fields http.Header
	length int64
}

var errRecord = errors.New("no WARC record begins here")

func recordHeader(r *bufio.Reader) (h recordHead, err error) {
	line, _, err := readLine(r, 64)
	if err != nil {
		return h, err
	}
	if !strings.HasPrefix(line, magicWord) {
		return h, errRecord
	}
	if h.fields, err = headerFields(r); err != nil {
		return h, err
	}
	if h.length, err = strconv.ParseInt(h.fields.Get("Content-Length"), 10, 64); err != nil || h.length < 0 {
		return h, fmt.Errorf("%w: it has no Content-Length", errRecord)
	}
	return h, nil
}

func headerFields(r *bufio.Reader) (http.Header, error) {
	fields, err := readHeader(r, func(string) {})
	h := make(http.Header, len(fields))
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
	return h, err
}

// FileName is the name that a file of an archive has when it is finished.
func FileName(file string) string { return strings.TrimSuffix(filepath.Base(file), openSuffix) }

// readCapture reads the record that r is at; nil: it is neither response nor revisit. What is left of it is not read.
func readCapture(r *bufio.Reader) (*Capture, error) {
	h, err := recordHeader(r)
	if err != nil {
		return nil, err
	}
	c := &Capture{Type: strings.ToLower(h.fields.Get("Warc-Type")), ID: h.fields.Get("Warc-Record-Id"),
		URL: strings.Trim(h.fields.Get("Warc-Target-Uri"), "<>"), Digest: h.fields.Get("Warc-Payload-Digest"),
		RefersTo: h.fields.Get("Warc-Refers-To-Target-Uri"), Truncated: h.fields.Get("Warc-Truncated")}
	if c.Type != "response" && c.Type != "revisit" ||
		!strings.HasPrefix(h.fields.Get("Content-Type"), "application/http") {
		return nil, nil
	}
	if c.Date, err = time.Parse(time.RFC3339, h.fields.Get("Warc-Date")); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	c.RefersDate, _ = time.Parse(time.RFC3339, h.fields.Get("Warc-Refers-To-Date"))
	c.Status, c.Header, err = answerHead(bufio.NewReaderSize(io.LimitReader(r, h.length), 16))
	return c, err
}

// answerHead reads the status line and the headers of an HTTP answer.
func answerHead(r *bufio.Reader) (status int, h http.Header, err error) {
	line, _, err := readLine(r, maxHeaderBytes)
	if err != nil {
		return 0, nil, err
	}
	parts := bytes.Fields([]byte(line))
	if len(parts) < 2 || !strings.HasPrefix(line, "HTTP/") {
		return 0, nil, fmt.Errorf("%w: it holds no HTTP answer", errRecord)
	}
	if status, err = strconv.Atoi(string(parts[1])); err != nil {
		return 0, nil, fmt.Errorf("%w: it holds no HTTP answer", errRecord)
	}
	h, err = headerFields(r)
	return status, h, err
}
