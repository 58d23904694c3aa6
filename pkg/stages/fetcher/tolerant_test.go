package fetcher

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// oddHeads are heads of answers with the body "hello" that browsers show.
var oddHeads = map[string]string{
	"lower case":             "http/1.1 200 ok\r\nContent-Type: text/html\r\n\r\nhello",
	"Shoutcast":              "ICY 200 OK\r\nContent-Type: text/html\r\n\r\nhello",
	"HTTP/2 in HTTP/1":       "HTTP/2 200\r\nContent-Type: text/html\r\n\r\nhello",
	"no version":             "HTTP 200 OK\r\nContent-Type: text/html\r\n\r\nhello",
	"tabs":                   "HTTP/1.1\t200\tOK\r\nContent-Type: text/html\r\n\r\nhello",
	"blank line before":      "\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello",
	"two status lines":       "HTTP/1.0 200 OK\r\nHTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nhello",
	"no colon":               "HTTP/1.1 200 OK\r\nContent-Disposition = inline\r\nContent-Type: text/html\r\n\r\nhello",
	"no name":                "HTTP/1.1 200 OK\r\n: x\r\nContent-Type: text/html\r\n\r\nhello",
	"name that is none":      "HTTP/1.1 200 OK\r\nX-Fäöü: a\r\nX(y): b\r\nContent-Type: text/html\r\n\r\nhello",
	"control characters":     "HTTP/1.1 200 OK\r\nX-A: a\x00\x01b\x7f\r\nContent-Type: text/html\x00\r\n\r\nhello",
	"first line folded":      "HTTP/1.1 200 OK\r\n X: y\r\nContent-Type: text/html\r\n\r\nhello",
	"folded length":          "HTTP/1.1 200 OK\nContent-Type:\n text/html\nContent-Length:\n\t5\n\nhello and more",
	"length in words":        html + "Content-Length: five\r\n\r\nhello",
	"empty length":           html + "Content-Length: \r\n\r\nhello",
	"length twice in one":    html + "Content-Length: 5, 5\r\n\r\nhello and more",
	"identity":               html + "Transfer-Encoding: identity\r\n\r\nhello",
	"empty coding":           html + "Transfer-Encoding:\r\n\r\nhello",
	"chunked twice":          html + "Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n5\r\nhello\r\n0\r\n\r\n",
	"chunked twice in one":   html + "Transfer-Encoding: chunked,Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"interim answers before": "HTTP/1.1 100\r\nno colon\r\n\r\nHTTP/1.1 103\r\n\r\n" + html + "\r\nhello",
}

// Browsers show what net/http refuses.
func TestAnswersThatBrowsersShow(t *testing.T) {
	answers := maps.Clone(oddHeads)
	answers["compressed on the way"] = html + "Transfer-Encoding: gzip\r\n\r\n" +
		string(encode(t, []byte("hello"), "gzip"))
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			answering := func(c net.Conn, _ string) { fmt.Fprint(c, answer); c.Close() }
			r := newBench(t, nil).get(raw(t, answering), nil)
			r.want(t, crawl.VerdictDone, "")
			if string(r.body) != "hello" || r.ContentType != "text/html" {
				t.Errorf("%s: %q", r.ContentType, r.body)
			}
		})
	}
}

func TestOddAnswersThroughAProxy(t *testing.T) {
	proxy := raw(t, func(c net.Conn, _ string) { fmt.Fprint(c, oddHeads["two status lines"]); c.Close() })
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Network.Proxies = []string{proxy} })
	r := b.get("http://some.test/", nil)
	r.want(t, crawl.VerdictDone, "")
	if string(r.body) != "hello" {
		t.Errorf("%q", r.body)
	}
}

func TestOddAnswersOverTLS(t *testing.T) {
	s, pool := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: s.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					fmt.Fprint(c, oddHeads["two status lines"])
				}
			}()
		}
	}()
	b := newBench(t, func(c *Config, _ *Deps, _ *crawl.Job) { c.RootCAs = pool })
	r := b.get("https://"+ln.Addr().String()+"/", nil)
	r.want(t, crawl.VerdictDone, "")
	if string(r.body) != "hello" || r.Insecure {
		t.Errorf("%q, insecure %v", r.body, r.Insecure)
	}
	b = newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Network.Insecure = true })
	if r = b.get("https://"+ln.Addr().String()+"/", nil); r.Verdict != crawl.VerdictDone || !r.Insecure {
		t.Errorf("%s, insecure %v: nothing says that the certificate is not valid", r.Verdict, r.Insecure)
	}
}

// What comes on a connection that is used again is mended, too, however it is cut, and bodies are not touched.
func TestHeadsAreMendedOnEachRequest(t *testing.T) {
	const body = "no colon\r\n\r\nhttp/1.1 200 ok\r\n\r\n"
	one := fmt.Sprintf("http/1.1 200 ok\r\nno colon\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	want := fmt.Sprintf("HTTP/1.1 200 ok\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	c := tolerant(nil, 1<<10)
	for _, r := range []io.Reader{strings.NewReader(one), iotest.OneByteReader(strings.NewReader(one))} {
		c.Conn = readConn{nil, r}
		c.err = nil
		c.asked()
		if got, err := io.ReadAll(c); string(got) != want || err != nil {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
}

// A server that says what is no answer is not waited for.
func TestWhatIsNoHeadIsShownAtOnce(t *testing.T) {
	url := raw(t, func(c net.Conn, _ string) {
		fmt.Fprint(c, "SSH-2.0-OpenSSH_9.6\r\n")
		_, _ = c.Read(make([]byte, 1))
	})
	r := newBench(t, nil).get(url, nil)
	r.want(t, crawl.VerdictRetry, crawl.ReasonBroken)
	if !strings.Contains(r.Detail, "SSH-2.0") {
		t.Errorf("detail %q", r.Detail)
	}
}

type readConn struct {
	net.Conn
	r io.Reader
}

func (c readConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// However an answer is cut into pieces, net/http gets the same.
func FuzzTolerant(f *testing.F) {
	for _, head := range oddHeads {
		f.Add([]byte(head))
	}
	f.Add([]byte(html + "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\nX: y\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first string
		for i, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)),
			iotest.HalfReader(bytes.NewReader(data))} {
			c := tolerant(readConn{nil, r}, 1<<30)
			c.asked()
			got, err := io.ReadAll(c)
			if text := fmt.Sprintf("%q %v", got, err); i == 0 {
				first = text
			} else if text != first {
				t.Errorf("read %s, want %s", text, first)
			}
		}
	})
}

// What is said to need nothing is read by net/http, and as it is read when it is mended.
func FuzzNeedsNothing(f *testing.F) {
	for _, head := range oddHeads {
		f.Add([]byte(head))
	}
	plain := []byte(html + "Content-Length: 5\r\nX-A: \tb \r\n\r\nhello")
	f.Add(plain)
	if !needsNothing(plain) {
		f.Error("a plain answer is mended")
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if !needsNothing(answer) {
			return
		}
		as, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
		if err != nil {
			t.Fatalf("%q needs nothing, and net/http says %v", answer, err)
		}
		mended, interim, chunked := mendHead(answer[:headEnd(answer, 0)])
		is, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(mended)), nil)
		if err != nil || interim || chunked || is.StatusCode != as.StatusCode || is.ContentLength != as.ContentLength ||
			!maps.EqualFunc(is.Header, as.Header, slices.Equal) {
			t.Errorf("%q: %v, %+v and %+v", answer, err, is, as)
		}
	})
}
