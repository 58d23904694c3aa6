package fetcher

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// aProxy is an HTTP proxy that knows the way to every host: to the one server there is.
func aProxy(t *testing.T, to string, seen *[]string) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.Method+" "+r.RequestURI)
		switch {
		case strings.Contains(r.Host, "denied"):
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			up, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			down, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprint(down, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { _, _ = bytes.NewBuffer(nil).ReadFrom(tee{down, up}); up.Close() }()
			go func() { _, _ = bytes.NewBuffer(nil).ReadFrom(tee{up, down}); down.Close() }()
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "by proxy")
		}
	})
}

// tee passes on what it reads.
type tee struct{ from, to net.Conn }

func (t tee) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	_, _ = t.to.Write(p[:n])
	return n, err
}

func TestProxy(t *testing.T) {
	s, pool := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "by tunnel")
	})
	var seen []string
	addr := aProxy(t, s.Listener.Addr().String(), &seen)
	b := newBench(t, func(c *Config, _ *Deps, _ *crawl.Job) { c.Proxy, c.AllowPrivate, c.RootCAs = addr, false, pool })
	for _, tc := range []struct {
		url, body string
		verdict   crawl.Verdict
		reason    string
	}{
		{"http://a.test/x|y?q", "by proxy", crawl.VerdictDone, ""}, // its name is never resolved here
		{"http://a.test//x", "by proxy", crawl.VerdictDone, ""},
		{"https://example.com/z", "by tunnel", crawl.VerdictDone, ""},
		{"http://denied.test/", "", crawl.VerdictRetry, crawl.ReasonProxy},
		{"https://denied.test/", "", crawl.VerdictRetry, crawl.ReasonNoProxy}, // it was put aside,
		{"http://127.0.0.1/", "", crawl.VerdictRefused, crawl.ReasonPrivateAddress},
		{"http://localhost/", "", crawl.VerdictRefused, crawl.ReasonPrivateAddress},
		{"https://[fd00::1]/", "", crawl.VerdictRefused, crawl.ReasonPrivateAddress},
	} {
		r := b.get(tc.url, func(f *crawl.Fetch) { f.Addr = loopback }) // must not be dialled
		r.want(t, tc.verdict, tc.reason)
		if string(r.body) != tc.body || r.Addr.IsValid() {
			t.Errorf("%s: body %q, address %v", tc.url, r.body, r.Addr)
		}
	}
	want := []string{"GET http://a.test/x|y?q", "GET http://a.test//x", "CONNECT example.com:443",
		"GET http://denied.test/"}
	if !slices.Equal(seen, want) {
		t.Errorf("the proxy saw %q, want %q", seen, want)
	}
}

func TestProxyThatIsDown(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	for _, scheme := range []string{"http", "socks5"} {
		b := newBench(t, func(c *Config, _ *Deps, _ *crawl.Job) { c.Proxy = scheme + "://" + ln.Addr().String() })
		for _, url := range []string{"http://a.test/", "https://a.test/"} {
			r := b.get(url, nil)
			r.want(t, crawl.VerdictRetry, crawl.ReasonNoProxy)
			if r.Contacted() {
				t.Errorf("%s by %s: the host counts as contacted", url, scheme)
			}
		}
	}
}
