package fetcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// poolOf has proxies p0, p1 …
func poolOf(n int, delay time.Duration, most int) *pool {
	var urls []*url.URL
	for i := range n {
		urls = append(urls, &url.URL{Scheme: "http", Host: fmt.Sprintf("p%d", i)})
	}
	return newPool(urls, delay, most)
}

func taken(t *testing.T, p *pool) *proxy {
	t.Helper()
	x, err := p.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestProxiesTakeTurnsAndRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(3, time.Second, 0)
		began := time.Now()
		count := map[string]int{}
		for range 12 {
			x := taken(t, p)
			count[x.name]++
			p.done(x)
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began).Truncate(100 * time.Millisecond); took != 3*time.Second || count["http://p0"] != 4 ||
			count["http://p2"] != 4 {
			t.Errorf("12 requests through 3 proxies a second apart took %v: %v", took, count)
		}
	})
}

func TestAProxyBearsSoManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(2, 0, 1)
		a, b := taken(t, p), taken(t, p)
		if a == b {
			t.Error("one proxy bears two requests")
		}
		time.AfterFunc(5*time.Second, func() { p.done(a) })
		began := time.Now()
		if x := taken(t, p); x != a || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", x.name, time.Since(began))
		}
		var f Fault
		if _, err := p.take(context.Background()); !errors.As(err, &f) || f.Reason != crawl.ReasonProxy {
			t.Errorf("all are busy: %v", err)
		}
	})
}

func TestADeadProxyIsPutAsideAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(2, 0, 0)
		var dead *proxy
		trials := []time.Duration{}
		began := time.Now()
		for time.Since(began) < 20*time.Minute {
			x := taken(t, p)
			if x.name == "http://p0" {
				dead = x
				trials = append(trials, time.Since(began).Round(time.Second))
				p.fails(x, "refused")
			} else {
				p.works(x)
			}
			p.done(x)
			time.Sleep(100 * time.Millisecond)
		}
		if len(trials) < 9 || len(trials) > 14 {
			t.Errorf("a dead proxy was tried at %v", trials)
		}
		p.works(dead)
		if x := taken(t, p); x != dead {
			t.Errorf("a proxy that works again is not used")
		}
		p = poolOf(1, 0, 0)
		p.fails(taken(t, p), "refused")
		var f Fault
		if _, err := p.take(context.Background()); !errors.As(err, &f) || f.Reason != crawl.ReasonNoProxy ||
			!strings.Contains(f.Detail, "refused") {
			t.Errorf("none is left: %v", err)
		}
	})
}

func TestWhoseTroubleABadGatewayIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(1, 0, 0)
		x := p.all[0]
		if !p.cannotReach(x, "502") {
			t.Error("a proxy that never brought anything: the site is to blame")
		}
		p.works(x)
		for i := range maxSuspect {
			if ours := p.cannotReach(x, "502"); ours != (i == maxSuspect-1) {
				t.Errorf("no. %d of a proxy that brought answers: ours %v", i, ours)
			}
		}
		time.Sleep(blameSite)
		if p.cannotReach(x, "502") {
			t.Error("ours for ever")
		}
	})
}

// A proxy that fails is our own trouble: the reason says so, and another is tried where the host was not asked.
func TestProxiesThatFail(t *testing.T) {
	good := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "by proxy")
	})
	answering := func(status int, marked bool) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if marked {
				w.Header().Set("Proxy-Status", "p; error=connection_refused")
			}
			w.WriteHeader(status)
		})
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, tc := range map[string]struct {
		list   []string
		url    string
		reason string
	}{
		"refused":                {[]string{"http://" + closed.Addr().String()}, "http://a.test/", crawl.ReasonNoProxy},
		"refused, https":         {[]string{"http://" + closed.Addr().String()}, "https://a.test/", crawl.ReasonNoProxy},
		"refused, SOCKS":         {[]string{"socks5://" + closed.Addr().String()}, "http://a.test/", crawl.ReasonNoProxy},
		"407":                    {[]string{answering(407, false)}, "http://a.test/", crawl.ReasonProxy},
		"407, https":             {[]string{answering(407, false)}, "https://a.test/", crawl.ReasonProxy},
		"502":                    {[]string{answering(502, false)}, "http://a.test/", crawl.ReasonProxy},
		"502 with a mark":        {[]string{answering(502, true)}, "http://a.test/", crawl.ReasonProxy},
		"503, https":             {[]string{answering(503, false)}, "https://a.test/", crawl.ReasonProxy},
		"a site that is refused": {[]string{answering(403, false)}, "https://a.test/", crawl.ReasonConnect},
		"another is tried":       {[]string{"http://" + closed.Addr().String(), good}, "http://a.test/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Network.Proxies = tc.list })
			r := b.get(tc.url, nil)
			if tc.reason == "" {
				r.want(t, crawl.VerdictDone, "")
				return
			}
			r.want(t, crawl.VerdictRetry, tc.reason)
		})
	}
}

// A proxy that takes a CONNECT and says nothing is no fault of the site. One that makes the tunnel did its part: what
// the site does there is the site's.
func TestProxiesThatAreMute(t *testing.T) {
	for name, tc := range map[string]struct {
		says, reason, detail string
		hangsUp              bool
	}{
		"nothing": {"", crawl.ReasonProxy, "did not answer CONNECT", false},
		"a tunnel, and nothing comes": {"HTTP/1.1 200 OK\r\n\r\n", crawl.ReasonConnect, "hardly heard from",
			false},
		"a tunnel that is closed": {"HTTP/1.1 200 OK\r\n\r\n", crawl.ReasonBroken, "within the TLS handshake", true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := raw(t, func(c net.Conn, request string) {
				if strings.HasPrefix(request, "CONNECT") {
					_, _ = c.Write([]byte(tc.says))
				}
				if tc.hangsUp {
					c.Close()
				}
			})
			b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Network.Proxies = []string{proxy} })
			r := b.get("https://a.test/", func(f *crawl.Fetch) { f.FirstWait = time.Second / 2 })
			r.want(t, crawl.VerdictRetry, tc.reason)
			if !strings.Contains(r.Detail, tc.detail) {
				t.Errorf("detail %q", r.Detail)
			}
		})
	}
}

func TestAListOfProxiesInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies")
	for text, want := range map[string]string{
		"# mine\nhttp://u:p@a:1\n\nb:2 # two\nsocks5://c:3\n": "http://u:p@a:1 http://b:2 socks5://c:3",
		"":          "!it names no proxy",
		"ftp://a:1": "!line 1",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		urls, err := proxyURLs([]string{"file:" + file}, true)
		var got []string
		for _, u := range urls {
			got = append(got, u.String())
		}
		if fault, bad := strings.CutPrefix(want, "!"); bad && (err == nil || !strings.Contains(err.Error(), fault)) ||
			!bad && strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
