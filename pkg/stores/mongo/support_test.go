package mongo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a store over a database of its own. set may change the configuration.
func open(t testing.TB, set ...func(*Config)) *Store {
	t.Helper()
	cfg := Default()
	cfg.Timeout = 2 * time.Minute // a busy machine takes seconds for what has megabytes
	cfg.URL, cfg.Database = servicetest.MongoDB(t), "test_"+strings.ToLower(rand.Text())
	for _, f := range set {
		f(&cfg)
	}
	s, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err := errors.Join(s.db.Drop(ctx), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// page returns a record of an ordinary page with few words.
func page(t testing.TB, i int) *crawl.Record {
	u := mustURL(t, fmt.Sprintf("http://www.host%d.test/page/%d", i%7, i))
	r := &crawl.Record{Job: "job", URL: u, FinalURL: u, Status: 200, FetchedAt: time.Now(), Depth: 3, Referrer: u,
		ContentType: "text/html", Charset: "utf-8", Bytes: 30_000, Digest: crawl.Digest{1, byte(i)}, Simhash: uint64(i) << 40,
		Title: fmt.Sprint("Page ", i), Lang: "en", Text: "It was a bright cold day in April.",
		Fields: []crawl.Field{{Name: "company", Value: "ACME"}, {Name: "skills", Value: []any{"Go", "C"}}}}
	for k := range 5 {
		r.Links = append(r.Links, crawl.Link{URL: mustURL(t, fmt.Sprintf("http://www.host%d.test/page/%d", k%7, i+k)),
			Text: "next"})
	}
	return r
}

func put(t testing.TB, s *Store, rs ...*crawl.Record) {
	t.Helper()
	for _, r := range rs {
		if err := s.Pages().Put(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// proxy is a way to the server that a test can cut.
type proxy struct {
	net.Listener
	to    string
	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, conns: map[net.Conn]bool{}}
	p.wg.Go(p.serve)
	t.Cleanup(func() {
		_ = p.Close()
		p.cut(true)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) serve() {
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.join(c) })
	}
}

func (p *proxy) join(c net.Conn) {
	defer func() { _ = c.Close() }()
	up, err := net.Dial("tcp", p.to)
	if err != nil || !p.add(c, up) {
		return
	}
	defer p.remove(c, up)
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, up}, {up, c}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	wg.Wait()
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.down {
			_ = c.Close()
		}
		p.conns[c] = true
	}
	return !p.down
}

func (p *proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// cut ends all connections. New ones come through, unless the server is to be away.
func (p *proxy) cut(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = away
	for c := range p.conns {
		_ = c.Close()
	}
}

// back lets new connections through again.
func (p *proxy) back() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}
