package fetcher

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A connection of HTTP/2 that a box on the way has forgotten is given up, and the next request makes another.
func TestSilentHTTP2ConnectionIsGivenUp(t *testing.T) {
	s, pool := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, r.Proto)
	})
	between := forgetful(t, s.Listener.Addr().String())
	b := newBench(t, func(c *Config, _ *Deps, j *crawl.Job) {
		c.RootCAs, j.Limits.FirstByte = pool, crawl.Duration(time.Minute)
	})
	b.transports().silent = 200 * time.Millisecond
	url := strings.Replace(s.URL, s.Listener.Addr().String(), between.addr, 1)
	b.get(url+"/1", nil).want(t, crawl.VerdictDone, "")
	between.forget.Store(true)
	began := time.Now()
	if r := b.get(url+"/2", nil); r.Verdict == crawl.VerdictDone && between.made.Load() == 1 {
		t.Error("the connection was not forgotten: the test proves nothing")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the connection was given up after %v", took)
	}
	b.get(url+"/3", nil).want(t, crawl.VerdictDone, "")
	if n := between.made.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// forgetfulBox passes connections on until it forgets the first.
type forgetfulBox struct {
	addr   string
	forget atomic.Bool
	made   atomic.Int32
}

func forgetful(t *testing.T, to string) *forgetfulBox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	box := &forgetfulBox{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				return
			}
			t.Cleanup(func() { _, _ = c.Close(), up.Close() })
			first := box.made.Add(1) == 1
			go box.pass(up, c, first)
			go box.pass(c, up, first)
		}
	}()
	return box
}

// pass copies what comes; of a connection that is forgotten nothing comes any more, and nobody is told.
func (b *forgetfulBox) pass(to, from net.Conn, first bool) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if first && b.forget.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
