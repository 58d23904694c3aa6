package fetcher

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync/atomic"
)

// tolerantConn is a connection whose answers in HTTP/1 may be wrong where browsers do not mind and net/http does: it
// mends their heads, and the lines between chunks of bodies, before net/http reads them. The connection is told of each
// request by asked.
type tolerantConn struct {
	net.Conn
	maxHead int // octets; longer heads are not mended

	begins atomic.Bool // a request is about to be sent: what comes next is the head of its answer

	inHead bool
	head   []byte // what came of a head
	chunks chunks // of the body
	out    []byte // mended, and not yet read
	room   []byte // of out, to be used again
	err    error  // of the connection; comes when out is read
}

// tolerant returns conn with the heads of its answers mended.
func tolerant(conn net.Conn, maxHead int64) *tolerantConn {
	return &tolerantConn{Conn: conn, maxHead: int(maxHead)}
}

// tls is the state of its encryption; nil: there is none.
func (c *tolerantConn) tls() *tls.ConnectionState {
	if t, ok := c.Conn.(*tls.Conn); ok {
		state := t.ConnectionState()
		return &state
	}
	return nil
}

// asked says that a request is about to be written.
func (c *tolerantConn) asked() { c.begins.Store(true) }

// Read implements io.Reader. One goroutine reads.
func (c *tolerantConn) Read(p []byte) (int, error) {
	for {
		if len(c.out) > 0 {
			n := copy(p, c.out)
			c.out = c.out[n:]
			return n, nil
		}
		if c.err != nil || len(p) == 0 {
			return 0, c.err
		}
		n, err := c.Conn.Read(p)
		if n > 0 && c.begins.Swap(false) {
			c.inHead, c.head, c.chunks = true, nil, chunks{}
		}
		c.out = c.room[:0]
		switch {
		case c.inHead && len(c.head) == 0 && needsNothing(p[:n]):
			c.inHead = false
			return n, err
		case c.inHead:
			c.take(p[:n])
		case c.chunks.part == chunkNone:
			return n, err
		default:
			c.out = c.chunks.take(c.out, p[:n])
		}
		if c.err = err; err != nil {
			c.cutShort()
		}
		c.room = c.out
	}
}

// take mends the head when it is whole, and keeps what came of it until then. Heads of interim answers come before the
// last one.
func (c *tolerantConn) take(p []byte) {
	before := len(c.head)
	if before > 0 {
		c.head = append(c.head, p...)
		p = c.head
	}
	for {
		end := headEnd(p, before)
		switch {
		case end >= 0:
		case len(p) > c.maxHead || isNoHead(p): // net/http knows what to say
			c.inHead, c.out, c.head = false, append(c.out, p...), nil
			return
		default:
			c.head = append(c.head[:0], p...)
			return
		}
		mended, interim, chunked := mendHead(p[:end])
		c.out = append(c.out, mended...)
		if p, before = p[end:], 0; interim {
			continue
		}
		if chunked {
			c.chunks.part = chunkSize
		}
		c.inHead, c.out, c.head = false, c.chunks.take(c.out, p), nil
		return
	}
}

// isNoHead reports whether what came begins with a line that is no status line.
func isNoHead(b []byte) bool {
	line, _, whole := bytes.Cut(bytes.TrimLeft(b, "\r\n"), []byte("\n"))
	if !whole {
		return false
	}
	_, _, ok := mendStatusLine(strings.TrimRight(string(line), "\r"))
	return !ok
}

// cutShort ends an answer that does not come to its end. A head that never began is no answer, and is shown as it is.
func (c *tolerantConn) cutShort() {
	if !c.inHead {
		c.out = c.chunks.close(c.out, c.err)
		return
	}
	if c.err == io.EOF && bytes.HasPrefix(c.head, []byte("HTTP/")) {
		c.err = io.ErrUnexpectedEOF
	} else {
		c.out = append(c.out, c.head...)
	}
	c.inHead, c.head = false, nil
}

// headEnd is where the body begins; -1: not yet. Blank lines before the status line do not end a head. It does not end
// within the first octets, which were looked at before.
func headEnd(b []byte, before int) int {
	from := max(len(b)-len(bytes.TrimLeft(b, "\r\n")), before-len("\n\r"))
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		rest := b[from:]
		switch {
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}
