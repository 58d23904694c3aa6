package zookeeper

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is what the connections of one session share: what the library does not tell.
type link struct {
	asked   time.Duration
	granted atomic.Int64          // the session's timeout, in milliseconds; 0: not known yet
	refused atomic.Pointer[error] // the last error of dialling
	watches atomic.Int32          // bits of watches that the library may have, to be sent again
}

// The watches, as bits of link.watches.
const (
	tableWatch int32 = 1 << iota
	nodesWatch
)

// patience is how long a connection may bring nothing: a little longer than the library's third of the timeout between
// signs of life.
func (l *link) patience() time.Duration {
	t := time.Duration(l.granted.Load()) * time.Millisecond
	if t == 0 {
		t = l.asked
	}
	return t * 2 / 5
}

// dial is the library's dialer.
func (l *link) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, timeout) //nolint:noctx // the library gives its dialer no context
	if err != nil {
		l.refused.Store(&err)
		return nil, err
	}
	return &conn{Conn: c, link: l, again: l.granted.Load() > 0, rewatched: make(chan struct{})}, nil
}

// conn is a connection that works around three properties of the library (v1.0.4):
//
//   - It waits two thirds of the timeout for an answer, when it is too late to try another server, and ten times as
//     long for the first answer.
//   - It does not report the timeout that the server granted.
//   - After a reconnection it sends its watches with the last transaction that it has seen. It reads that number while
//     answers to other requests already change it: a data race, and a change in between might go unnoticed. So answers
//     are held back until the watches are sent.
type conn struct {
	net.Conn
	link  *link
	again bool // the session has had a connection before

	read int64  // octets
	head []byte // the first of them
	held bool   // answers have been held, which is done once

	wrote     bool
	rewatched chan struct{} // closed when watches were sent
	once      sync.Once
}

// The beginning of the first answer, ZooKeeper's ConnectResponse: length, protocol, timeout.
const headLength = 12

// opSetWatches is the operation that sends the watches again. A request begins with length, number and operation.
const opSetWatches = 101

// holdTime bounds how long answers are held back. The library sends its watches at once, unless the machine is busy,
// but we may expect watches that it does not have.
const holdTime = time.Second

// Read implements net.Conn. The library reads the first answer to its last octet and no further.
func (c *conn) Read(b []byte) (int, error) {
	if c.again && !c.held && c.link.watches.Load() != 0 && len(c.head) == headLength &&
		c.read >= 4+int64(binary.BigEndian.Uint32(c.head)) {
		c.held = true
		select {
		case <-c.rewatched:
		case <-time.After(holdTime):
		}
	}
	n, err := c.Conn.Read(b)
	c.read += int64(n)
	if missing := headLength - len(c.head); missing > 0 {
		c.head = append(c.head, b[:min(n, missing)]...)
		if len(c.head) == headLength {
			if granted := int32(binary.BigEndian.Uint32(c.head[8:])); granted > 0 { // 0: the session has expired
				c.link.granted.Store(int64(granted))
			}
		}
	}
	return n, err
}

// Write implements net.Conn. The library writes whole requests, the one that connects first.
func (c *conn) Write(b []byte) (int, error) {
	if c.wrote && len(b) >= headLength && binary.BigEndian.Uint32(b[8:]) == opSetWatches {
		defer c.once.Do(func() { close(c.rewatched) })
	}
	c.wrote = true
	return c.Conn.Write(b)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	if most := time.Now().Add(c.link.patience()); t.IsZero() || t.After(most) {
		t = most
	}
	return c.Conn.SetReadDeadline(t)
}

// hosts gives the library the servers' names instead of their addresses. Names are looked up at each dial, because a
// server that is restarted elsewhere keeps only its name.
type hosts struct {
	mu      sync.Mutex
	servers []string
	next    int
	tried   int // since the last success
}

// Init implements zk.HostProvider.
func (h *hosts) Init(servers []string) error {
	h.servers = servers
	return nil
}

// Len implements zk.HostProvider.
func (h *hosts) Len() int { return len(h.servers) }

// Next implements zk.HostProvider. Before the servers are tried a second time the library waits a second.
func (h *hosts) Next() (server string, retry bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server, retry = h.servers[h.next], h.tried > 0 && h.tried%len(h.servers) == 0
	h.next = (h.next + 1) % len(h.servers)
	h.tried++
	return server, retry
}

// Connected implements zk.HostProvider.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = 0
}
