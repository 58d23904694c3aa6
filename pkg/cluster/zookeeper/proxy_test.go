package zookeeper_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy is a way to ZooKeeper that a test can cut: then nothing comes through and nothing is closed, as in a network
// that drops packets.
type proxy struct {
	t        testing.TB
	server   string
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	whole  chan struct{} // closed while the way is whole
	closed bool
	conns  map[net.Conn]struct{}
	heads  map[uint64][]byte // ZooKeeper's answers to connections, by session: they hold its password
}

// headLength is that of a ConnectResponse: length, protocol, timeout, session, 16 octets of password with their length.
const headLength = 4 + 4 + 4 + 8 + 4 + 16

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, server: server, listener: l, whole: make(chan struct{}), conns: map[net.Conn]struct{}{},
		heads: map[uint64][]byte{}}
	close(p.whole)
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(c) })
	}
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	if !p.add(c) {
		return
	}
	<-p.gate()
	up, err := net.Dial("tcp", p.server)
	if err != nil || !p.add(up) {
		return
	}
	defer up.Close()
	var wg sync.WaitGroup
	wg.Go(func() { p.copy(up, c, nil) })
	wg.Go(func() { p.copy(c, up, new([]byte)) })
	wg.Wait()
}

// copy passes octets on while the way is whole. head gets the first ones.
func (p *proxy) copy(to, from net.Conn, head *[]byte) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-p.gate()
		if head != nil && len(*head) < headLength {
			*head = append(*head, buf[:min(n, headLength-len(*head))]...)
			if len(*head) == headLength {
				p.mu.Lock()
				p.heads[binary.BigEndian.Uint64((*head)[12:])] = *head
				p.mu.Unlock()
			}
		}
		if _, errTo := to.Write(buf[:n]); err != nil || errTo != nil {
			_ = to.Close()
			_ = from.Close()
			return
		}
	}
}

func (p *proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *proxy) gate() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.whole
}

// Cut implements membertest.Client.
func (p *proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = make(chan struct{})
}

// Heal implements membertest.Client.
func (p *proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.whole)
}

// Break closes all connections, as a server that restarts.
func (p *proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// Expire implements membertest.Client: for each session another connection takes it over, with its number and password,
// and closes it. A client whose session has ended may have begun another in passing, so some of them are over.
func (p *proxy) Expire() {
	p.t.Helper()
	p.Cut() // else the client, whose connection is closed by the takeover, could take its session back in between
	defer p.Heal()
	p.mu.Lock()
	heads := p.heads
	p.heads = map[uint64][]byte{}
	p.mu.Unlock()
	ended := 0
	for session, head := range heads {
		if session != 0 && p.end(head) == nil { // 0: ZooKeeper's answer for one that has expired
			ended++
		}
	}
	if ended == 0 {
		p.t.Errorf("none of %d sessions could be ended", len(heads))
	}
}

func (p *proxy) end(head []byte) error {
	c, err := net.Dial("tcp", p.server)
	if err != nil {
		return err
	}
	defer c.Close()
	// ConnectRequest: protocol, last transaction, timeout, session, password
	request := binary.BigEndian.AppendUint32(nil, 0)
	request = append(request, make([]byte, 8)...)
	request = append(request, head[8:12]...)
	request = append(request, head[12:]...)
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	answer := make([]byte, headLength)
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, answer); err != nil {
		return err
	}
	if !bytes.Equal(answer[12:20], head[12:20]) {
		return errors.New("the session is over")
	}
	_, err = c.Write([]byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}) // closeSession: transaction 1, operation -11
	_, _ = io.Copy(io.Discard, c)
	return err
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	select {
	case <-p.whole:
	default:
		close(p.whole)
	}
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
