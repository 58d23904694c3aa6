package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// asked is a server that remembers what it was asked for.
type asked struct {
	mu       sync.Mutex
	requests []string
}

func (a *asked) add(r string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
}

func (a *asked) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// Addresses of this machine and of its network are refused in whatever form they are written, and so are names that
// resolve to them, from the beginning or since the crawl began. Nobody is asked for anything, not even for robots.txt.
func TestPrivateAddressesAreNeverAsked(t *testing.T) {
	long(t)
	var server asked
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		server.add(r.Host + r.URL.Path)
	}))
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	names := nameServer(t, map[string]string{"lo.test.": "127.0.0.1", "lan.test.": "10.0.0.1",
		"meta.test.": "169.254.169.254", "six.test.": "::1", "mapped.test.": "64:ff9b::7f00:1"}, "")
	args := []string{"crawl", "--dns", names, "--scope", "any", "--delay", "0s", "--quiet"}
	want := map[string]bool{}
	for _, host := range []string{"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]",
		"[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "0.0.0.0", "[fd00::1]", "lo.test", "lan.test", "meta.test",
		"six.test", "mapped.test"} {
		raw := "http://" + host + ":" + port + "/latest"
		args, want[canonical(t, raw)] = append(args, raw), true
	}
	dir := filepath.Join(t.TempDir(), "out")
	if got := run(t, append(args, "-o", dir)...); got.exit != 2 || !strings.Contains(got.stderr, "--allow-private") {
		t.Errorf("exit status %d, %q: want 2 and the flag named where all seeds are private", got.exit, got.stderr)
	}
	// with a seed that is not private the crawl begins, and the fetcher has to refuse the others
	nowhere := "http://nowhere.test/"
	got := run(t, append(args, nowhere, "-o", dir)...)
	if got.exit != 1 || !strings.Contains(got.stderr, "no page could be fetched") ||
		!strings.Contains(got.stderr, "--allow-private") {
		t.Errorf("exit status %d, %q: want 1, that no page could be fetched, and the flag", got.exit, got.stderr)
	}
	finals := finalsIn(t, dir)
	delete(finals, nowhere)
	for u := range want {
		l := finals[u]
		if len(l) != 1 || l[0].Verdict != crawl.VerdictRefused || l[0].Reason != crawl.ReasonPrivateAddress {
			t.Errorf("%s: %d outcomes, want one: refused, private-address", u, len(l))
		}
	}
	if len(finals) != len(want) {
		t.Errorf("%d URLs have an outcome, want %d", len(finals), len(want))
	}
	if r := server.all(); len(r) > 0 {
		t.Errorf("the server was asked for %q", r)
	}
	run(t, "crawl", "http://lo.test:"+port+"/", "--dns", names, "--delay", "0s", "--quiet", "--allow-private", "-o",
		filepath.Join(t.TempDir(), "out"))
	if len(server.all()) == 0 {
		t.Error("the control, which may ask, did not: the server would not have noticed")
	}
}

func canonical(t *testing.T, raw string) string {
	t.Helper()
	j := crawl.Job{Seeds: []string{raw}}
	urls, err := j.SeedURLs()
	if err != nil {
		t.Fatal(err)
	}
	return urls[0].String()
}

// A public site leads to private ones by redirect and by link. The site is reached through a proxy, which is the only
// way that leaves a test on loopback; what the proxy is asked for is what would have left the crawler.
func TestPublicSiteLeadsToNoPrivateAddress(t *testing.T) {
	long(t)
	targets := map[string]string{
		"/loopback": "http://127.0.0.1/", "/number": "http://2130706433/", "/hex": "http://0x7f.1/", "/six": "http://[::1]/",
		"/mapped": "http://[::ffff:127.0.0.1]/", "/metadata": "http://169.254.169.254/latest", "/name": "http://localhost/",
		"/file": "file:///etc/passwd", "/gopher": "gopher://127.0.0.1/",
	}
	var proxy asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxy.add(r.URL.String())
		target, redirects := targets[r.URL.Path]
		switch {
		case r.URL.Host != "public.test" || r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case redirects:
			w.Header()["Location"] = []string{target}
			w.WriteHeader(http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			for path, target := range targets {
				fmt.Fprintf(w, "<p><a href=%q>redirect</a> <a href=%q>link</a>\n", path, target)
			}
		}
	}))
	t.Cleanup(srv.Close)
	dir := filepath.Join(t.TempDir(), "out")
	got := run(t, "crawl", "http://public.test/", "--proxy", srv.URL, "--scope", "any", "--delay", "0s", "--quiet", "-o",
		dir)
	if got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	finals := finalsIn(t, dir)
	for path, target := range targets {
		want := ending{crawl.VerdictDone, "", http.StatusFound}
		if !strings.HasPrefix(target, "http:") {
			want = ending{crawl.VerdictRefused, crawl.ReasonRedirectTarget, http.StatusFound}
		}
		wantEnding(t, finals, "http://public.test"+path, want)
		if strings.HasPrefix(target, "http:") {
			wantEnding(t, finals, canonical(t, target), ending{crawl.VerdictRefused, crawl.ReasonPrivateAddress, 0})
		}
	}
	for _, r := range proxy.all() {
		if u, err := url.Parse(r); err != nil || u.Host != "public.test" {
			t.Errorf("the proxy was asked for %s", r)
		}
	}
}

func wantEnding(t *testing.T, finals map[string][]*crawl.LogLine, u string, want ending) {
	t.Helper()
	lines := finals[u]
	if len(lines) != 1 {
		t.Errorf("%s: %d final outcomes, want one", u, len(lines))
		return
	}
	if got := (ending{lines[0].Verdict, lines[0].Reason, lines[0].Status}); got != want {
		t.Errorf("%s ended with %v (%s), want %v", u, got, lines[0].Detail, want)
	}
}
