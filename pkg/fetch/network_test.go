package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/stage"
)

func TestHostsThatCannotBeReached(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	ln.Close() // nobody listens there now
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) {
		d.DNS = names{"down.test": nil, "two.test": {netip.MustParseAddr("127.0.0.97"), loopback}}
	})
	for host, tc := range map[string]struct {
		verdict   crawl.Verdict
		reason    string
		contacted bool
	}{
		"nowhere.test": {crawl.VerdictGone, crawl.ReasonNoSuchHost, false},
		"down.test":    {crawl.VerdictRetry, crawl.ReasonDNS, false},
		"two.test":     {crawl.VerdictRetry, crawl.ReasonConnect, true},
		"127.0.0.1":    {crawl.VerdictRetry, crawl.ReasonConnect, true},
	} {
		r := b.get("http://"+host+":"+port, nil)
		r.want(t, tc.verdict, tc.reason)
		if r.Contacted() != tc.contacted || r.Status != 0 {
			t.Errorf("%s: contacted %v, status %d", host, r.Contacted(), r.Status)
		}
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	var asked atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	port := url[strings.LastIndexByte(url, ':'):]
	b := newBench(t, func(c *Config, d *Deps, _ *crawl.Job) {
		c.AllowPrivate = false
		d.DNS = names{"private.test": {loopback}, "mapped.test": {netip.MustParseAddr("::ffff:127.0.0.1")},
			"meta.test": {netip.MustParseAddr("169.254.169.254")}}
	})
	for _, host := range []string{"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:7f00:1]",
		"private.test", "mapped.test", "meta.test", "10.0.0.1", "0.0.0.0", "[fd00::1]"} {
		r := b.get("http://"+host+port, nil)
		r.want(t, crawl.VerdictRefused, crawl.ReasonPrivateAddress)
		if r.Contacted() || !strings.Contains(r.Detail, "--allow-private") {
			t.Errorf("%s: contacted %v, detail %q", host, r.Contacted(), r.Detail)
		}
	}
	r := b.get("http://private.test"+port, func(f *crawl.Fetch) { f.Addr = loopback })
	r.want(t, crawl.VerdictRefused, crawl.ReasonPrivateAddress)
	if asked.Load() != 0 {
		t.Errorf("%d requests were made", asked.Load())
	}
}

// A name that was public when it was looked up turns private when it is dialled (DNS rebinding). The name server says so
// from the second answer on.
func TestNameThatTurnsPrivateIsRefused(t *testing.T) {
	var asked atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	port := url[strings.LastIndexByte(url, ':'):]
	var answers atomic.Int64
	server := nameServer(t, func(q *dns.Msg) *dns.Msg {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			ip := "203.0.114.1" // public
			if answers.Add(1) > 1 {
				ip = "127.0.0.1"
			}
			rr, _ := dns.NewRR("rebind.test. 0 A " + ip)
			m.Answer = []dns.RR{rr}
		}
		return m
	})
	cfg := dnscache.Default()
	cfg.Server, cfg.HostsFile, cfg.MinTTL = server, "", 0
	cache, err := dnscache.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := cache.Lookup(t.Context(), "rebind.test")
	if err != nil || first[0] != netip.MustParseAddr("203.0.114.1") {
		t.Fatalf("first answer %v, %v", first, err)
	}
	b := newBench(t, func(c *Config, d *Deps, _ *crawl.Job) { c.AllowPrivate, d.DNS = false, cache })
	b.get("http://rebind.test"+port, nil).want(t, crawl.VerdictRefused, crawl.ReasonPrivateAddress)
	if asked.Load() != 0 || answers.Load() < 2 {
		t.Errorf("%d requests were made, %d names looked up", asked.Load(), answers.Load())
	}
}

// nameServer answers DNS over UDP on loopback.
func nameServer(t *testing.T, answer func(*dns.Msg) *dns.Msg) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	s := &dns.Server{PacketConn: pc, NotifyStartedFunc: func() { close(up) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { _ = w.WriteMsg(answer(q)) })}
	go func() { _ = s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() { _ = s.Shutdown() })
	return pc.LocalAddr().String()
}

// quiet is where servers complain about handshakes that are meant to fail.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func serveTLS(t *testing.T, h http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, pool
}

func TestHTTP2OverTLS(t *testing.T) {
	s, pool := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(encode(t, []byte(r.Proto+" "+r.URL.String()), "gzip"))
	})
	b := newBench(t, func(c *Config, _ *Deps, _ *crawl.Job) { c.RootCAs = pool })
	for _, path := range []string{"/a?b=c", "//x/y", "/|"} {
		r := b.get(s.URL+path, nil)
		r.want(t, crawl.VerdictDone, "")
		if string(r.body) != "HTTP/2.0 "+strings.ReplaceAll(path, "|", "%7C") || r.Addr != loopback {
			t.Errorf("body %q, address %v", r.body, r.Addr)
		}
	}
}

// Far more than the limit is a fault of the whole connection to net/http, which does not say which one; that is retried.
func TestHTTP2HeadersTooLarge(t *testing.T) {
	s, pool := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 70 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1000))
		}
	})
	b := newBench(t, func(c *Config, _ *Deps, j *crawl.Job) { c.RootCAs, j.Limits.MaxHeader = pool, 64<<10 })
	b.get(s.URL, nil).want(t, crawl.VerdictRefused, crawl.ReasonHeaderTooLarge)
}

func TestTLSFaults(t *testing.T) {
	s, pool := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.Config.ErrorLog = quiet()
	old.StartTLS()
	t.Cleanup(old.Close)
	mute := raw(t, func(net.Conn, string) {})
	shut := raw(t, func(c net.Conn, _ string) { c.Close() })
	for name, tc := range map[string]struct {
		url     string
		pool    *x509.CertPool
		verdict crawl.Verdict
		reason  string
	}{
		"unknown authority":    {s.URL, x509.NewCertPool(), crawl.VerdictRefused, crawl.ReasonTLS},
		"another name":         {strings.Replace(s.URL, "127.0.0.1", "other.test", 1), pool, crawl.VerdictRefused, crawl.ReasonTLS},
		"plain HTTP":           {strings.Replace(plain, "http:", "https:", 1), pool, crawl.VerdictRefused, crawl.ReasonTLS},
		"a version too old":    {old.URL, pool, crawl.VerdictRefused, crawl.ReasonTLS},
		"handshake never ends": {strings.Replace(mute, "http:", "https:", 1), pool, crawl.VerdictRetry, crawl.ReasonTLS},
		"closed at once":       {strings.Replace(shut, "http:", "https:", 1), pool, crawl.VerdictRetry, crawl.ReasonBroken},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config, d *Deps, j *crawl.Job) {
				c.RootCAs, d.DNS = tc.pool, names{"other.test": {loopback}}
				j.Limits.TLSHandshake = crawl.Duration(200 * time.Millisecond)
			})
			r := b.get(tc.url, nil)
			r.want(t, tc.verdict, tc.reason)
			if !r.Contacted() {
				t.Error("the host counts as not contacted, though a connection was opened")
			}
		})
	}
}

// proxy is an HTTP proxy that knows the way to every host: to the one server there is.
func proxy(t *testing.T, to string, seen *[]string) string {
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
	addr := proxy(t, s.Listener.Addr().String(), &seen)
	b := newBench(t, func(c *Config, _ *Deps, _ *crawl.Job) { c.Proxy, c.AllowPrivate, c.RootCAs = addr, false, pool })
	for _, tc := range []struct {
		url, body string
		verdict   crawl.Verdict
		reason    string
	}{
		{"http://a.test/x|y?q", "by proxy", crawl.VerdictDone, ""}, // its name is never resolved here
		{"http://a.test//x", "by proxy", crawl.VerdictDone, ""},
		{"https://example.com/z", "by tunnel", crawl.VerdictDone, ""},
		{"http://denied.test/", "", crawl.VerdictRetry, crawl.ReasonConnect},
		{"https://denied.test/", "", crawl.VerdictRetry, crawl.ReasonConnect},
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
	want := []string{"GET http://a.test/x|y?q", "GET http://a.test//x", "CONNECT example.com:443", "GET http://denied.test/",
		"CONNECT denied.test:443"}
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
			r.want(t, crawl.VerdictRetry, crawl.ReasonConnect)
			if r.Contacted() {
				t.Errorf("%s by %s: the host counts as contacted", url, scheme)
			}
		}
	}
}

func TestConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for name, mod := range map[string]func(*Config){
		"proxy scheme": func(c *Config) { c.Proxy = "ftp://a:1" }, "proxy host": func(c *Config) { c.Proxy = "127.0.0.1:3128" },
		"no idle": func(c *Config) { c.MaxIdleConns = 0 }, "no timeout": func(c *Config) { c.IdleConnTimeout = 0 },
	} {
		cfg := Default()
		mod(&cfg)
		if cfg.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(Default(), Deps{}); err == nil {
		t.Error("no dependencies: accepted")
	}
}

func TestExchangesAreArchivedAsDecoded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		data := encode(t, text(5000), "gzip")
		switch r.URL.Path {
		case "/moved":
			w.Header().Set("Location", "/")
			w.WriteHeader(301)
		case "/gone":
			w.WriteHeader(404)
		case "/odd":
			w.Header().Set("Content-Encoding", "odd")
			w.WriteHeader(404)
		case "/same":
			w.Header().Del("Content-Encoding")
			w.WriteHeader(304)
			return
		}
		_, _ = w.Write(data)
	})
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Archive = d.Bodies.(*memory) })
	for i, path := range []string{"/", "/moved", "/gone", "/robots.txt", "/odd", "/same"} {
		r := b.get(url+path, func(f *crawl.Fetch) {
			f.Task.ETag = `"x"`
			if path == "/robots.txt" {
				asRobots(f)
			}
		})
		if len(b.mem.exchanges) != i+1 {
			t.Fatalf("%s: %d exchanges, want %d", path, len(b.mem.exchanges), i+1)
		}
		x := b.mem.exchanges[i]
		want := text(5000)
		if path == "/odd" || path == "/same" {
			want = nil
		}
		if !bytes.Equal(x.Body, want) || x.URL.String() != url+path || x.Started.IsZero() || x.Duration <= 0 || x.Addr != loopback ||
			x.NotModified != (path == "/same") || !strings.HasPrefix(x.Status, fmt.Sprint(r.Status)) || x.Proto != "HTTP/1.1" {
			t.Errorf("%s: %+v", path, x)
		}
		if x.RequestHeader.Get("Host") == "" || x.RequestHeader.Get("User-Agent") == "" || x.ResponseHeader.Get("Content-Encoding") != "" {
			t.Errorf("%s: headers %v, %v", path, x.RequestHeader, x.ResponseHeader)
		}
		if n := x.ResponseHeader.Get("Content-Length"); path != "/same" && n != fmt.Sprint(len(want)) {
			t.Errorf("%s: Content-Length %s, want %d", path, n, len(want))
		}
	}
	if r := b.mem.exchanges[0]; r.ResponseHeader.Get("X-Archive-Orig-Content-Encoding") != "gzip" || r.Truncated != "" || r.Digest.IsZero() {
		t.Errorf("page: %+v", r)
	}
	if b.mem.exchanges[4].Truncated == "" {
		t.Error("a body that was left out is not marked")
	}
}

func TestLimitsOfJobsDoNotMix(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Long", strings.Repeat("a", 50_000))
	})
	small, large := crawl.DefaultJob(), crawl.DefaultJob()
	small.IgnoreRobots, large.IgnoreRobots, small.Limits.MaxHeader = true, true, 10_000
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Jobs = crawl.StaticJobs{"small": &small, "large": &large} })
	for id, reason := range map[crawl.JobID]string{"small": crawl.ReasonHeaderTooLarge, "large": ""} {
		for range 2 {
			if r := b.get(url, func(f *crawl.Fetch) { f.Task.Job = id }); r.Reason != reason {
				t.Errorf("%s: reason %q, want %q", id, r.Reason, reason)
			}
		}
	}
}

// The handler is what the stage wants, also under many hands (run with -race).
func TestManyFetchesAtOnce(t *testing.T) {
	data := text(20_000)
	packed := encode(t, data, "gzip")
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed)
	})
	b := newBench(t, nil)
	u := parse(t, url)
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() {
			errs <- func() error {
				for range 20 {
					ctx := stage.WithDelivery(context.Background(), stage.Delivery{})
					events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u}})
					if err != nil {
						return err
					}
					if p, ok := events[0].(*crawl.Page); !ok || p.Bytes != int64(len(data)) {
						return fmt.Errorf("events %v", events)
					}
				}
				return nil
			}()
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
