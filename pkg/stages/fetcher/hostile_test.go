package fetcher

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestAnswersThatAreNotHTTP(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	for name, tc := range map[string]struct {
		answer  string
		verdict crawl.Verdict
		reason  string
	}{
		"nothing":           {"", crawl.VerdictRetry, crawl.ReasonBroken},
		"HTTP/0.9":          {"<html>hello</html>", crawl.VerdictRetry, crawl.ReasonBroken},
		"half a status":     {"HTTP/1.1 20", crawl.VerdictRetry, crawl.ReasonBroken},
		"status in letters": {"HTTP/1.1 OK\r\n\r\n", crawl.VerdictRetry, crawl.ReasonBroken},
		"half a header":     {ok + "X-A: b", crawl.VerdictRetry, crawl.ReasonBroken},
		"two lengths": {ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", crawl.VerdictRetry,
			crawl.ReasonBroken},
		"negative length": {ok + "Content-Length: -5\r\n\r\nhello", crawl.VerdictDone, ""},
		"short body":      {ok + "Content-Length: 50\r\n\r\nhello", crawl.VerdictRetry, crawl.ReasonBroken},
		"short page":      {ok + "Content-Length: 50\r\n\r\n<html>hello</HTML>\n", crawl.VerdictDone, ""},
		"short page that is encoded": {ok + "Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n" +
			string(encode(t, []byte("<html>hello</html>"), "gzip")), crawl.VerdictDone, ""},
		"chunks cut behind the page": {ok + "Transfer-Encoding: chunked\r\n\r\nd\r\nhello</html>\r\n",
			crawl.VerdictDone, ""},
		"garbled chunks": {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZZ\r\n", crawl.VerdictRetry,
			crawl.ReasonBroken},
		"chunks cut": {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", crawl.VerdictRetry, crawl.ReasonBroken},
		"huge chunk": {ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx", crawl.VerdictRetry,
			crawl.ReasonBroken},
		"switched protocols": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
			crawl.VerdictRefused, crawl.ReasonBroken},
		"until it closes": {ok + "\r\nhello", crawl.VerdictDone, ""},
		"status 000":      {"HTTP/1.1 000 x\r\n\r\n", crawl.VerdictRefused, crawl.ReasonBroken},
	} {
		t.Run(name, func(t *testing.T) {
			url := raw(t, func(c net.Conn, _ string) { fmt.Fprint(c, tc.answer); c.Close() })
			b := newBench(t, nil)
			r := b.get(url, nil)
			r.want(t, tc.verdict, tc.reason)
			if !r.Contacted() || b.mem.Len() != 0 && tc.reason != "" {
				t.Errorf("contacted %v, %d bodies in the spool", r.Contacted(), b.mem.Len())
			}
		})
	}
}

// Servers and caches answer 206 though nobody asked for a range, some of them with all there is.
func TestPartsNobodyAskedFor(t *testing.T) {
	for ranges, verdict := range map[string]crawl.Verdict{"bytes 0-4/5": crawl.VerdictDone,
		"Bytes 0-4/5": crawl.VerdictDone, "bytes 0-4/9": crawl.VerdictRefused, "bytes 1-5/6": crawl.VerdictRefused,
		"bytes 0-4/*": crawl.VerdictRefused, "": crawl.VerdictRefused} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Range", ranges)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "hello")
		})
		if r := newBench(t, nil).get(url, nil); r.Verdict != verdict || (r.page != nil) != (verdict == crawl.VerdictDone) {
			t.Errorf("%q: verdict %v, page %v", ranges, r.Verdict, r.page)
		}
	}
}

func TestEndlessHeadersAreRefused(t *testing.T) {
	var sent atomic.Int64
	url := raw(t, func(c net.Conn, _ string) {
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n")
		for {
			n, err := fmt.Fprintf(c, "X-%d: %s\r\n", sent.Load(), strings.Repeat("a", 1000))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	r := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Limits.MaxHeader = 64 << 10 }).get(url, nil)
	r.want(t, crawl.VerdictRefused, crawl.ReasonHeaderTooLarge)
	if !strings.Contains(r.Detail, "limits.max_header") {
		t.Errorf("detail %q", r.Detail)
	}
}

// A kept-alive connection that ends without an answer makes net/http send the request again at once. The server's log
// must not show it.
func TestRequestIsNeverRepeatedBehindTheFrontiersBack(t *testing.T) {
	var requests atomic.Int64
	url := raw(t, func(c net.Conn, _ string) {
		if requests.Add(1)%2 == 1 {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			return
		}
		c.Close()
	})
	b := newBench(t, nil)
	for i := range 10 {
		b.get(url, nil).want(t, crawl.VerdictDone, "")
		r := b.get(url, nil)
		r.want(t, crawl.VerdictRetry, crawl.ReasonBroken)
		if got, want := requests.Load(), int64(2*(i+1)); got != want {
			t.Fatalf("the server saw %d requests, want %d", got, want)
		}
	}
}

// Slow servers live in a bubble with a clock of its own: an hour of patience takes no time.
func inBubble(t *testing.T, mod func(*crawl.Job), h http.HandlerFunc, check func(b *bench, url string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		srv := &http.Server{Handler: h}
		go func() { _ = srv.Serve(ln) }()
		b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { mod(j) })
		b.transports().dial = func(transportKey) dialFunc { return ln.dial }
		check(b, "http://slow.test")
		b.h.Close()
		_ = srv.Close()
		synctest.Wait()
	})
}

// pipeListener joins a client and a server in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestSlowServers(t *testing.T) {
	const s = crawl.Duration(time.Second)
	drip := func(n int, every time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, n))
				w.(http.Flusher).Flush()
				select {
				case <-time.After(every):
				case <-r.Context().Done():
				}
			}
		}
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		reason  string
		bound   string
		after   time.Duration
	}{
		"never answers": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, crawl.ReasonTimeout,
			"limits.first_byte", 30 * time.Second},
		"stops":                {drip(5000, time.Hour), crawl.ReasonTimeout, "limits.idle", 30 * time.Second},
		"a byte a second":      {drip(1, time.Second), crawl.ReasonTooSlow, "limits.min_rate", 30 * time.Second},
		"fast enough, forever": {drip(2000, time.Second), crawl.ReasonTimeout, "limits.total", 180 * time.Second},
		"in bursts":            {drip(1000, 20*time.Second), crawl.ReasonTooSlow, "limits.min_rate", 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(j *crawl.Job) { j.Limits.FirstByte, j.Limits.Idle = 30*s, 30*s }, tc.handler,
				func(b *bench, url string) {
					start := time.Now()
					r := b.get(url, nil)
					r.want(t, crawl.VerdictRetry, tc.reason)
					if !strings.Contains(r.Detail, tc.bound) {
						t.Errorf("detail %q, want the bound %s", r.Detail, tc.bound)
					}
					if took := time.Since(start); took != tc.after || r.Ended.Sub(r.Started) != took {
						t.Errorf("took %v, ended after %v, want %v", took, r.Ended.Sub(r.Started), tc.after)
					}
					if b.mem.Len() != 0 {
						t.Error("a body that was cut by time stays in the spool")
					}
				})
		})
	}
}

func TestSlowSpoolIsNotTheServersFault(t *testing.T) {
	page := strings.Repeat("x", 200_000)
	inBubble(t, func(j *crawl.Job) { j.Limits.Total = crawl.Duration(time.Hour) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, page)
		}, func(b *bench, url string) {
			b.h.deps.Bodies = slowSpool{b.mem}
			r := b.get(url, nil)
			r.want(t, crawl.VerdictDone, "")
			if len(r.body) != len(page) {
				t.Errorf("%d bytes", len(r.body))
			}
		})
}

// slowSpool rests a minute after every read.
type slowSpool struct{ *memory }

func (s slowSpool) Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error) {
	return s.memory.Put(ctx, readFunc(func(p []byte) (int, error) {
		time.Sleep(time.Minute)
		return r.Read(p[:min(len(p), 32<<10)])
	}))
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// An answer that is given up must be over for the server before the outcome says so.
func TestAbandonedAnswerIsOverWhenReported(t *testing.T) {
	gone := make(chan time.Time, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "video/mp4")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		gone <- time.Now()
	})
	r := newBench(t, nil).get(url, nil)
	r.want(t, crawl.VerdictRefused, crawl.ReasonMediaType)
	select {
	case <-gone:
	case <-time.After(10 * time.Minute):
		t.Error("the connection is still open")
	}
}

func TestBodyNobodyWantsKeepsItsConnectionWhenSmall(t *testing.T) {
	conns := map[string]bool{}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conns[r.RemoteAddr] = true
		n := 1000
		if r.URL.Path == "/big" {
			n = 10 << 20
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(make([]byte, n))
	})
	b := newBench(t, nil)
	for range 5 {
		b.get(url+"/small", nil)
	}
	if len(conns) != 1 {
		t.Errorf("%d connections for five small answers, want 1", len(conns))
	}
	b.get(url+"/big", nil)
	b.get(url+"/small", nil)
	if len(conns) != 2 {
		t.Errorf("%d connections, want 2: the big answer is not read to its end", len(conns))
	}
}

// Nothing may stay behind a fetch, whatever became of it.
func TestNoGoroutineStaysBehind(t *testing.T) {
	url := raw(t, func(c net.Conn, req string) {
		if strings.Contains(req, "/cut") {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
		}
		c.Close()
	})
	b := newBench(t, nil)
	b.get(url, nil)
	before := runtime.NumGoroutine()
	for range 50 {
		b.get(url, nil)
		b.get(url+"/cut", nil)
	}
	for deadline := time.Now().Add(10 * time.Minute); runtime.NumGoroutine() > before+3; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
