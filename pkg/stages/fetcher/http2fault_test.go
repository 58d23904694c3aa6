package fetcher

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// serveHTTP2 answers each request of HTTP/2 by a function, and those of HTTP/1.1 as they should be.
func serveHTTP2(t *testing.T, answer func(c net.Conn, f *http2.Framer, id uint32)) (url string, pool *x509.CertPool,
	old *atomic.Int32) {
	t.Helper()
	s, pool := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	cert := s.TLS.Certificates[0]
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert},
		NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	old = new(atomic.Int32)
	serve := func(c net.Conn) {
		defer c.Close()
		if c.(*tls.Conn).Handshake() != nil {
			return
		}
		if c.(*tls.Conn).ConnectionState().NegotiatedProtocol != "h2" {
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				old.Add(1)
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nold")
			}
			return
		}
		_, _ = io.CopyN(io.Discard, c, int64(len(http2.ClientPreface)))
		f := http2.NewFramer(c, c)
		_ = f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := frame.(*http2.HeadersFrame); ok {
				answer(c, f, h.StreamID)
			}
		}
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return "https://" + ln.Addr().String() + "/", pool, old
}

// answerHeader writes the header of an answer.
func answerHeader(f *http2.Framer, id uint32, fields ...string) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: true})
}

// A page that came to its last tag is whole though its stream is broken off, unless that asks for fewer requests.
func TestPagesOfStreamsThatAreBrokenOff(t *testing.T) {
	for code, whole := range map[http2.ErrCode]bool{http2.ErrCodeNo: true, http2.ErrCodeInternal: true,
		http2.ErrCodeEnhanceYourCalm: false} {
		url, pool, _ := serveHTTP2(t, func(_ net.Conn, f *http2.Framer, id uint32) {
			var b bytes.Buffer
			e := hpack.NewEncoder(&b)
			_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			_ = e.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true})
			_ = f.WriteData(id, false, []byte("<html>hello</html>"))
			_ = f.WriteRSTStream(id, code)
		})
		b := newBench(t, func(cfg *Config, _ *Deps, _ *crawl.Job) { cfg.RootCAs = pool })
		if r := b.get(url, nil); (r.page != nil) != whole || r.Slow == whole {
			t.Errorf("%v: page %v, %v, slow %v, %s", code, r.page, r.Verdict, r.Slow, r.Detail)
		}
	}
}

func TestFaultsOfHTTP2(t *testing.T) {
	rst := func(code http2.ErrCode) func(net.Conn, *http2.Framer, uint32) {
		return func(_ net.Conn, f *http2.Framer, id uint32) { _ = f.WriteRSTStream(id, code) }
	}
	for name, c := range map[string]struct {
		answer func(net.Conn, *http2.Framer, uint32)
		says   string
		slow   bool
		old    bool // the next attempt is made in HTTP/1.1
	}{
		"calm": {rst(http2.ErrCodeEnhanceYourCalm), "the server asks for fewer requests (HTTP/2: ENHANCE_YOUR_CALM)", true,
			false},
		"calm, and away": {func(c net.Conn, f *http2.Framer, id uint32) {
			_ = f.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("too_many"))
			_ = c.Close()
		}, "the server asks for fewer requests", true, false},
		"away": {func(c net.Conn, f *http2.Framer, id uint32) {
			_ = f.WriteGoAway(id, http2.ErrCodeInternal, nil)
			_ = c.Close()
		}, "closed the connection before the answer was complete (HTTP/2: INTERNAL_ERROR)", false, false},
		"broken off": {rst(http2.ErrCodeCancel), "the server broke the answer off (HTTP/2: CANCEL)", false, false},
		"wants 1.1":  {rst(http2.ErrCodeHTTP11Required), "the server wants HTTP/1.1", false, true},
		"speaks 1.1": {func(c net.Conn, _ *http2.Framer, _ uint32) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}, "agreed on HTTP/2 and answers in HTTP/1.1", false, true},
		"no status": {func(_ net.Conn, f *http2.Framer, id uint32) { answerHeader(f, id, "content-type", "text/html") },
			"the answer is no valid HTTP/2: PROTOCOL_ERROR; malformed response from server: missing status", false, true},
		"upper case": {func(_ net.Conn, f *http2.Framer, id uint32) { answerHeader(f, id, ":status", "200", "X-Up", "a") },
			`invalid header field name "X-Up"`, false, true},
		"push": {func(_ net.Conn, f *http2.Framer, id uint32) {
			_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true})
		}, "the answer is no valid HTTP/2, or its headers are much too large: PROTOCOL_ERROR", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			url, pool, old := serveHTTP2(t, c.answer)
			b := newBench(t, func(cfg *Config, _ *Deps, _ *crawl.Job) { cfg.RootCAs = pool })
			r := b.get(url, nil)
			r.want(t, crawl.VerdictRetry, crawl.ReasonBroken)
			if !strings.Contains(r.Detail, c.says) || strings.Contains(r.Detail, "stream ID") || r.Slow != c.slow {
				t.Errorf("detail %q, slow %v; want %q, %v", r.Detail, r.Slow, c.says, c.slow)
			}
			r = b.get(url, nil)
			if got := r.Verdict == crawl.VerdictDone && string(r.body) == "old" && old.Load() == 1; got != c.old {
				t.Errorf("the second attempt is in HTTP/1.1: %v, want %v: %q", got, c.old, r.Detail)
			}
		})
	}
}
