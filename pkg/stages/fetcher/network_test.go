package fetcher

import (
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
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
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

// A name that was public when it was looked up turns private when it is dialled (DNS rebinding). The name server says
// so from the second answer on.
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

// Far more than the limit is a fault of the whole connection to net/http, which does not say which one; that is
// retried.
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
		"unknown authority": {s.URL, x509.NewCertPool(), crawl.VerdictRefused, crawl.ReasonTLS},
		"another name": {strings.Replace(s.URL, "127.0.0.1", "other.test", 1), pool, crawl.VerdictRefused,
			crawl.ReasonTLS},
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
			if !strings.Contains(r.Detail, "TLS") && !strings.Contains(r.Detail, "certificate") {
				t.Errorf("detail %q", r.Detail)
			}
		})
	}
}

func TestConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for name, mod := range map[string]func(*Config){
		"proxy scheme": func(c *Config) { c.Proxy = "ftp://a:1" },
		"proxy host":   func(c *Config) { c.Proxy = "127.0.0.1:3128" }, "no idle": func(c *Config) { c.MaxIdleConns = 0 },
		"no timeout": func(c *Config) { c.IdleConnTimeout = 0 },
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

func TestLimitsOfJobsDoNotMix(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Long", strings.Repeat("a", 50_000))
	})
	small, large := crawl.DefaultJob(), crawl.DefaultJob()
	small.MediaTypes, large.MediaTypes = []string{"text/*"}, []string{"text/*"}
	small.IgnoreRobots, large.IgnoreRobots, small.Limits.MaxHeader = true, true, 10_000
	b := newBench(t, func(_ *Config, d *Deps,
		_ *crawl.Job) {
		d.Jobs = crawl.StaticJobs{"small": &small, "large": &large}
	})
	for id, reason := range map[crawl.JobID]string{"small": crawl.ReasonHeaderTooLarge, "large": ""} {
		for range 2 {
			if r := b.get(url, func(f *crawl.Fetch) { f.Task.Job = id }); r.Reason != reason {
				t.Errorf("%s: reason %q, want %q", id, r.Reason, reason)
			}
		}
	}
}

// The handler is what the stage wants, also with many workers (run with -race).
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
	for i := range cap(errs) {
		go func() {
			errs <- func() error {
				for range 20 {
					ctx := pipeline.WithDelivery(context.Background(), pipeline.Delivery{})
					events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u, Lease: int64(i)}})
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
