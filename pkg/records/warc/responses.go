package warc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Response is the body of a response record.
type Response struct {
	URI    string
	Body   []byte
	Digest crawl.Digest // of Body
}

// EachResponse calls each with every whole response of an archive that a Writer made, a record a gzip member. Longer
// ones than limit bytes are passed over, and so are records of other kinds. An error of each ends the reading and is
// returned; a damaged file ends it with an error, too.
func EachResponse(r io.Reader, limit int64, each func(*Response) error) error {
	m := newMembers(r)
	for {
		body, err := m.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", m.offset(), err)
		}
		in := bufio.NewReaderSize(body, 64<<10)
		found, err := readResponse(in, limit)
		if err == nil && found != nil {
			err = each(found)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, in) // the next member begins behind it
		}
		if err != nil {
			return err
		}
	}
}

// readResponse reads a record; nil where it is none that is wanted.
func readResponse(in *bufio.Reader, limit int64) (*Response, error) {
	head := textproto.NewReader(in)
	version, err := head.ReadLine()
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(version, "WARC/1.") {
		return nil, fmt.Errorf("a record begins with %.20q", version)
	}
	fields, err := head.ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(fields.Get("Content-Length"), 10, 64)
	if err != nil || fields.Get("Warc-Type") != "response" || size > limit || size < 0 {
		return nil, nil //nolint:nilerr // a record that is passed over
	}
	var block bytes.Buffer
	if _, err := io.Copy(&block, io.LimitReader(in, size)); err != nil {
		return nil, err
	}
	_, body, ok := bytes.Cut(block.Bytes(), []byte("\r\n\r\n"))
	if !ok {
		return nil, nil
	}
	uri := strings.Trim(fields.Get("Warc-Target-Uri"), "<>")
	return &Response{URI: uri, Body: body, Digest: sha256.Sum256(body)}, nil
}
