package fakeweb

import (
	"bufio"
	"bytes"
	"errors"
	"strconv"
)

// request is what the server needs to know of a request. Its slices are reused from request to request.
type request struct {
	method    string
	target    []byte // path and query
	host      []byte
	userAgent []byte
	noneMatch []byte
	since     []byte
	gzip      bool
	close     bool // the connection ends with this exchange
}

var (
	errBadRequest = errors.New("fakeweb: malformed request")
	errTooLong    = errors.New("fakeweb: request line or header field too long")
)

// maxFields bounds the header fields of a request.
const maxFields = 200

// read reads a request head. The package has its own server because net/http does not tell when the last byte of an
// answer is written, and the log records that.
func (q *request) read(br *bufio.Reader) error {
	*q = request{target: q.target[:0], host: q.host[:0], userAgent: q.userAgent[:0], noneMatch: q.noneMatch[:0],
		since: q.since[:0]}
	line, err := readLine(br)
	if err != nil {
		return err
	}
	if err := q.requestLine(line); err != nil {
		return err
	}
	for range maxFields {
		line, err := readLine(br)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		q.field(line)
	}
	return errTooLong
}

// readLine returns a line without its end; it is valid until the next read.
func readLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errTooLong
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

func (q *request) requestLine(line []byte) error {
	method, rest, ok := bytes.Cut(line, []byte(" "))
	target, version, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || len(method) == 0 || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return errBadRequest
	}
	switch {
	case string(method) == "GET":
		q.method = "GET"
	case string(method) == "HEAD":
		q.method = "HEAD"
	default:
		q.method, q.close = string(method), true // a body may follow, which is not read
	}
	if i := bytes.Index(target, []byte("://")); i > 0 { // as sent to a proxy
		rest := target[i+3:]
		slash := bytes.IndexByte(rest, '/')
		if slash < 0 {
			return errBadRequest
		}
		q.host = append(q.host, rest[:slash]...)
		target = rest[slash:]
	}
	q.close = q.close || string(version) == "HTTP/1.0"
	q.target = append(q.target, target...)
	return nil
}

func (q *request) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case is(name, "host"):
		if len(q.host) == 0 {
			q.host = append(q.host, value...)
		}
	case is(name, "user-agent"):
		q.userAgent = append(q.userAgent, value...)
	case is(name, "if-none-match"):
		q.noneMatch = append(q.noneMatch, value...)
	case is(name, "if-modified-since"):
		q.since = append(q.since, value...)
	case is(name, "accept-encoding"):
		q.gzip = bytes.Contains(value, []byte("gzip"))
	case is(name, "connection"):
		q.close = q.close || bytes.EqualFold(value, []byte("close"))
	case is(name, "transfer-encoding"):
		q.close = true
	case is(name, "content-length"):
		n, err := strconv.Atoi(string(value))
		q.close = q.close || err != nil || n != 0
	}
}

// is compares a field name with a lower-case one.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}
