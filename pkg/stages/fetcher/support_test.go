package fetcher

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory is the spool, the robots store and the archive of a test.
type memory struct {
	crawl.Memory
	mu        sync.Mutex
	exchanges []*crawl.Exchange
	putErr    error
	writeErr  error
}

func (m *memory) Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error) {
	ref, err := m.Memory.Put(ctx, r)
	if err == nil && m.putErr != nil {
		return "", errors.Join(m.putErr, m.Release(ctx, ref))
	}
	return ref, err
}

// rules are what is stored of an origin's robots.txt.
func (m *memory) rules(origin string) crawl.Robots {
	r, _, _ := m.Robots(context.Background(), origin) // it does not fail
	return r
}

// allow stores a robots.txt.
func (m *memory) allow(r crawl.Robots) { _ = m.PutRobots(context.Background(), r) } // it does not fail

func (m *memory) Write(_ context.Context, x *crawl.Exchange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exchanges = append(m.exchanges, x)
	return m.writeErr
}

// names is a Resolver with fixed answers; every other name does not exist.
type names map[string][]netip.Addr

func (n names) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{addr}, nil
	}
	switch addrs, ok := n[host]; {
	case !ok:
		return nil, &dnscache.Error{Host: host, Kind: dnscache.ErrNoSuchHost}
	case addrs == nil:
		return nil, &dnscache.Error{Host: host, Kind: dnscache.ErrServer, Detail: "SERVFAIL"}
	default:
		return addrs, nil
	}
}

var loopback = netip.MustParseAddr("127.0.0.1")

// bench is a handler with everything around it.
type bench struct {
	tb  testing.TB
	h   *Handler
	job crawl.Job
	mem *memory
}

// newBench returns a handler that may contact loopback and ignores robots.txt. mod may be nil.
func newBench(tb testing.TB, mod func(*Config, *Deps, *crawl.Job)) *bench {
	tb.Helper()
	b := &bench{tb: tb, job: crawl.DefaultJob(), mem: &memory{}}
	b.job.MediaTypes = append(b.job.MediaTypes, "text/plain")
	b.job.ID, b.job.IgnoreRobots = "test", true
	rc, err := robotscache.New(b.mem, robotscache.Default())
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Default()
	cfg.AllowPrivate = true
	deps := Deps{Jobs: crawl.StaticJobs{"test": &b.job}, Bodies: b.mem, Robots: rc, DNS: names{}}
	if mod != nil {
		mod(&cfg, &deps, &b.job)
	}
	if b.h, err = New(cfg, deps); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.h.Close)
	return b
}

// transports are those of the client over HTTP.
func (b *bench) transports() *transports { return b.h.client.(*httpClient).transports }

// result is what a fetch brought.
type result struct {
	*crawl.Outcome
	page  *crawl.Page
	links *crawl.Links
	body  []byte
}

// get fetches a URL as a page. mod may be nil.
func (b *bench) get(url string, mod func(*crawl.Fetch)) result {
	b.tb.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		b.tb.Fatal(err)
	}
	f := &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u}}
	if mod != nil {
		mod(f)
	}
	events, err := b.h.Handle(b.tb.Context(), f)
	if err != nil {
		b.tb.Fatalf("Handle(%s): %v", url, err)
	}
	return b.read(events)
}

func (b *bench) read(events []crawl.Event) (r result) {
	b.tb.Helper()
	for i, e := range events {
		switch e := e.(type) {
		case *crawl.Outcome:
			if i != len(events)-1 {
				b.tb.Errorf("the outcome is event %d of %d, want the last", i+1, len(events))
			}
			r.Outcome = e
		case *crawl.Page:
			r.page = e
			r.body, _ = b.mem.Body(e.Body)
		case *crawl.Links:
			r.links = e
		}
	}
	if r.Outcome == nil {
		b.tb.Fatal("no outcome was reported")
	}
	return r
}

// want checks the verdict and the reason, and what holds for every outcome.
func (r result) want(t testing.TB, v crawl.Verdict, reason string) {
	t.Helper()
	if r.Verdict != v || r.Reason != reason {
		t.Errorf("verdict %v, reason %q (%s), want %v, %q", r.Verdict, r.Reason, r.Detail, v, reason)
	}
	if (v == crawl.VerdictDone) != (r.Reason == "") || (r.Reason != "") != (r.Detail != "") {
		t.Errorf("reason %q, detail %q: want both, or neither for done", r.Reason, r.Detail)
	}
	for _, noise := range []string{"Get \"", "dial tcp", "read tcp", "->", "net/http"} {
		if strings.Contains(r.Detail, noise) {
			t.Errorf("detail %q holds the noise %q", r.Detail, noise)
		}
	}
	if r.Contacted() && (r.Started.IsZero() || r.Ended.Before(r.Started)) {
		t.Errorf("started %v, ended %v", r.Started, r.Ended)
	}
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// raw serves connections by hand: say gets each one after its request was read.
func raw(t testing.TB, say func(c net.Conn, request string)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					_ = c.SetReadDeadline(time.Now().Add(time.Minute))
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					say(c, string(buf[:n]))
				}
			})
		}
	})
	return "http://" + ln.Addr().String()
}

func parse(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// dial implements the transport's hook.
func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
