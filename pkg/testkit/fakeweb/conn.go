package fakeweb

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// conn serves one connection, a request at a time.
type conn struct {
	srv           *Server
	c             net.Conn
	id            uint64
	local, remote string
	br            *bufio.Reader
	req           request
	ans           answer
	head          []byte
	packed        []byte
	start         int64   // of the present request
	end           int64   // just before the last bytes of the answer went out
	logged        pending // the request in the log
}

// wholeWrite is the largest answer in bytes that is written at once; of a larger one, tail bytes are held back. A
// write of no more than that does not wait for the client: Linux takes
// 3.9 MB on a loopback connection nobody reads from (measured).
const (
	wholeWrite = 64 << 10
	tail       = 1 << 10
)

// requestBuffer bounds a line of a request's head in bytes.
const requestBuffer = 8 << 10

// keepBuffer is the largest body buffer a connection keeps for its next answer.
const keepBuffer = 1 << 20

func (s *Server) newConn(c net.Conn, id uint64) *conn {
	host := func(a net.Addr) string {
		h, _, err := net.SplitHostPort(a.String())
		if err != nil {
			return a.String()
		}
		return h
	}
	return &conn{
		srv: s, c: c, id: id, local: host(c.LocalAddr()), remote: c.RemoteAddr().String(),
		br: bufio.NewReaderSize(c, requestBuffer),
	}
}

// serve answers requests until either side ends the connection.
func (c *conn) serve() {
	for c.exchange() {
		if cap(c.ans.body) > keepBuffer {
			c.ans.body = nil
		}
	}
}

// exchange serves one request and says whether another may follow.
func (c *conn) exchange() bool {
	if _, err := c.br.Peek(1); err != nil {
		return false
	}
	c.start, c.logged = c.srv.log.now(), pending{}
	c.ans.reset()
	switch err := c.req.read(c.br); {
	case err == nil:
		c.decide()
	case errors.Is(err, errBadRequest), errors.Is(err, errTooLong):
		c.req.close = true
		c.ans.fail(http.StatusBadRequest)
	default:
		return false
	}
	sent, err := c.send()
	c.record(sent, err)
	return err == nil && !c.req.close
}

// decide makes up the answer.
func (c *conn) decide() {
	if c.req.method != "GET" && c.req.method != "HEAD" {
		c.ans.fail(http.StatusMethodNotAllowed)
		return
	}
	s := c.srv
	s.web.answerTo(&c.ans, string(c.req.host), c.req.target, s.age(c.start), s.visit)
	if c.ans.etag == "" {
		return
	}
	match := string(c.req.noneMatch) == c.ans.etag
	if len(c.req.noneMatch) == 0 && len(c.req.since) > 0 {
		t, err := http.ParseTime(string(c.req.since))
		match = err == nil && !c.ans.modified.After(t)
	}
	if match {
		c.ans.status = http.StatusNotModified
		c.ans.body = c.ans.body[:0]
	}
}

var errClientGone = errors.New("fakeweb: the client has gone")

// send writes the answer and returns how many bytes of its body were written.
func (c *conn) send() (int, error) {
	if c.ans.hold {
		c.ans.status = 0
		c.wait(never)
		return 0, errClientGone
	}
	if c.srv.holds.Load() && !c.waitForRelease() {
		return 0, errClientGone
	}
	if d := c.srv.web.cfg.Delay; d > 0 && !c.wait(d) {
		return 0, errClientGone
	}
	body := c.ans.body
	c.head = c.appendHead(c.head[:0], &body)
	if c.req.method == "HEAD" {
		body = nil
	}
	if c.ans.drip > 0 {
		return c.drip(body)
	}
	return c.write(body)
}

// waitForRelease waits until nothing is held any more, and says whether the client is still there.
func (c *conn) waitForRelease() bool {
	c.srv.held.Add(1)
	defer c.srv.held.Add(-1)
	for c.srv.holds.Load() {
		if !c.wait(holdLook) {
			return false
		}
	}
	return true
}

// holdLook is how often a request that is held looks whether it still is.
const holdLook = 20 * time.Millisecond

// write sends head and body.
func (c *conn) write(body []byte) (int, error) {
	parts, sent := net.Buffers{c.head, body}, 0
	if len(body) > wholeWrite {
		first := net.Buffers{c.head, body[:len(body)-tail]}
		n, err := first.WriteTo(c.c)
		if sent = max(int(n)-len(c.head), 0); err != nil {
			return sent, err
		}
		c.head, parts = c.head[:0], net.Buffers{body[len(body)-tail:]}
	}
	c.last(len(body))
	n, err := parts.WriteTo(c.c)
	return sent + max(int(n)-len(c.head), 0), err
}

// last notes the end of the request before the last bytes are handed over and not after: by the time this goroutine
// runs again, the client may have had them for long, asked for more, or looked into the log.
func (c *conn) last(sent int) {
	c.stop()
	c.logged = c.srv.log.begin(c.entry(sent, false))
}

// appendHead writes status line and header fields, and compresses the body where both sides like it.
func (c *conn) appendHead(dst []byte, body *[]byte) []byte {
	a := &c.ans
	dst = strconv.AppendInt(append(dst, "HTTP/1.1 "...), int64(a.status), 10)
	dst = append(append(append(dst, ' '), http.StatusText(a.status)...), "\r\nServer: fakeweb\r\nDate: "...)
	dst = append(append(dst, c.srv.date()...), "\r\n"...)
	dst = append(dst, a.headers...)
	if a.etag != "" {
		dst = append(append(append(dst, "ETag: "...), a.etag...), "\r\nLast-Modified: "...)
		dst = append(a.modified.AppendFormat(dst, http.TimeFormat), "\r\n"...)
	}
	if a.retryAfter > 0 {
		dst = strconv.AppendInt(append(dst, "Retry-After: "...), int64(a.retryAfter), 10)
		dst = append(dst, "\r\n"...)
	}
	dst = append(dst, c.srv.noise...)
	if a.gzip && c.req.gzip && len(*body) > 200 {
		c.packed = c.srv.compress(c.packed[:0], *body)
		*body = c.packed
		dst = append(dst, "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"...)
	}
	if c.req.close {
		dst = append(dst, "Connection: close\r\n"...)
	}
	if a.status != http.StatusNotModified {
		dst = strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(*body)), 10)
		dst = append(dst, "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// drip sends the head at once and the body byte by byte.
func (c *conn) drip(body []byte) (int, error) {
	if len(body) == 0 {
		c.last(0)
	}
	if _, err := c.c.Write(c.head); err != nil {
		return 0, err
	}
	for i := range body {
		if !c.wait(c.ans.drip) {
			return i, errClientGone
		}
		if i == len(body)-1 {
			c.last(len(body))
		}
		if _, err := c.c.Write(body[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(body), nil
}

// never is longer than any server runs.
const never = 365 * 24 * time.Hour

// wait lets time pass and says whether the client is still there at its end; it returns early when the client goes.
func (c *conn) wait(d time.Duration) bool {
	end := time.Now().Add(d)
	if err := c.c.SetReadDeadline(end); err != nil {
		return false
	}
	_, err := c.br.Peek(c.br.Buffered() + 1)
	if err == nil || errors.Is(err, bufio.ErrBufferFull) { // the next request is here already: only the clock is left
		select {
		case <-time.After(time.Until(end)):
		case <-c.srv.closed:
			return false
		}
	} else if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() {
		return false
	}
	return c.c.SetReadDeadline(time.Time{}) == nil
}

// stop notes the end of the request: now, or when the client closed the connection. A server that waits for a processor
// may read a request that was given up long before.
func (c *conn) stop() {
	c.end = c.srv.log.now()
	if asked, gone, ok := left(c.c); ok {
		c.start = min(c.start, c.end-int64(asked))
		c.end = max(c.start, c.end-int64(gone))
	}
}

// record logs what became of the request. An answer that was cut ended when that was noticed.
func (c *conn) record(sent int, err error) {
	if err != nil {
		c.stop()
	}
	c.srv.log.end(c.logged, c.entry(sent, err != nil))
}

func (c *conn) entry(sent int, cut bool) Entry {
	host, _, _ := strings.Cut(strings.ToLower(string(c.req.host)), ":")
	return Entry{
		Host: strings.TrimSuffix(host, "."), Path: string(c.req.target), Method: c.req.method,
		Status: c.ans.status, RetryAfter: c.ans.retryAfter, Start: c.start, End: c.end, Bytes: sent, Cut: cut,
		Conn: c.id, Local: c.local, Remote: c.remote, UserAgent: string(c.req.userAgent),
	}
}

// compress is one gzip member of the data.
func (s *Server) compress(dst, data []byte) []byte {
	z, _ := s.gzips.Get().(*gzip.Writer)
	if z == nil {
		z, _ = gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	}
	defer s.gzips.Put(z)
	w := sliceWriter{dst}
	z.Reset(&w)
	z.Write(data) // a sliceWriter takes everything
	z.Close()
	return w.b
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
