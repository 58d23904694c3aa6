package memcached

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is a way to a server that a test can cut.
type proxy struct {
	t     testing.TB
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func newProxy(t testing.TB) *proxy { return &proxy{t: t} }

// addr is where to reach the server through the proxy.
func (p *proxy) addr(to string) string {
	addr := listen(p.t, func(c net.Conn) {
		up, err := net.Dial("tcp", to)
		if err != nil || !p.add(c, up) {
			return
		}
		var wg sync.WaitGroup
		for _, way := range [][2]net.Conn{{c, up}, {up, c}} {
			wg.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_ = way[0].Close()
				_ = way[1].Close()
			})
		}
		wg.Wait()
	})
	return addr
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conns...)
	if p.down {
		p.closeAll()
	}
	return !p.down
}

// cut ends all connections. New ones come through, unless the server is to be away.
func (p *proxy) cut(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = away
	p.closeAll()
}

func (p *proxy) closeAll() {
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}
