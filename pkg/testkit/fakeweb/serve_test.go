package fakeweb

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t testing.TB, c Config, o Options) *Server {
	t.Helper()
	s, err := Serve(t.Context(), New(c), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client resolves names at the server's DNS and follows no redirects.
func client(t testing.TB, s *Server) *http.Client {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, s.DNSAddr())
	}}
	tr := &http.Transport{
		DialContext:        (&net.Dialer{Resolver: resolver}).DialContext,
		DisableCompression: true, MaxIdleConnsPerHost: 4,
		TLSClientConfig: &tls.Config{RootCAs: s.CertPool()},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func fetch(t testing.TB, c *http.Client, method, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return resp, body
}

// links returns the URLs that a crawler may follow from a page: absolute, without fragment, without those that
// directives exclude. It follows the standard and shares no code with the generator of the pages.
func links(t *testing.T, base string, resp *http.Response, body []byte) []string {
	t.Helper()
	for _, v := range resp.Header.Values("X-Robots-Tag") {
		if strings.HasPrefix(v, "nofollow") {
			return nil
		}
	}
	at, err := resp.Request.URL.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for n := range doc.Descendants() {
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "meta" && strings.EqualFold(attr["name"], "robots") &&
			strings.Contains(strings.ToLower(attr["content"]), "nofollow"):
			return nil
		case n.Data == "base":
			if at, err = at.Parse(attr["href"]); err != nil {
				t.Fatal(err)
			}
		case n.Data == "a" && attr["href"] != "" && !strings.Contains(attr["rel"], "nofollow"):
			u, err := at.Parse(attr["href"])
			if err != nil {
				t.Fatal(err)
			}
			if u.Scheme == "http" || u.Scheme == "https" {
				u.Fragment, u.Host = "", strings.ToLower(u.Host)
				out = append(out, u.String())
			}
		}
	}
	return out
}

// A crawler that obeys robots.txt, directives and redirects reaches exactly the pages that truth allows, and copies
// contribute no links of their own.
func TestEveryAllowedPageIsReachable(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := everything()
	cfg.Changing = 0
	s := serve(t, cfg, Options{})
	w, c := s.Web(), client(t, s)
	queue := w.Seeds()
	seen := map[string]bool{}
	for _, u := range queue {
		seen[u] = true
	}
	add := func(u string) {
		page, ok := w.Page(u)
		if !seen[u] && ok && !page.Disallowed {
			seen[u] = true
			queue = append(queue, u)
		} else if host, _, _ := splitURL(u); !ok && strings.Contains(host, "site-") {
			t.Fatalf("a link leads to %s, which does not exist", u)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		page, _ := w.Page(queue[0])
		for range page.Refusals {
			fetch(t, c, "GET", queue[0])
		}
		resp, body := fetch(t, c, "GET", queue[0])
		if resp.StatusCode != page.Status {
			t.Fatalf("%s answers %d, want %d", queue[0], resp.StatusCode, page.Status)
		}
		if page.RedirectTo != "" {
			to, err := resp.Location()
			if err != nil || to.String() != page.RedirectTo {
				t.Fatalf("%s redirects to %v (%v), want %s", queue[0], to, err, page.RedirectTo)
			}
			add(page.RedirectTo)
		} else if page.Status == 200 && page.DuplicateOf == "" {
			for _, u := range links(t, queue[0], resp, body) {
				add(u)
			}
		}
	}
	checkReached(t, w, seen)
}

func checkReached(t *testing.T, w *Web, seen map[string]bool) {
	t.Helper()
	want := 0
	for p := range w.Pages {
		if !p.Disallowed {
			want++
			if !seen[p.URL] {
				t.Errorf("%s was not reached", p.URL)
			}
		}
	}
	if len(seen) != want {
		t.Errorf("%d pages reached, want %d", len(seen), want)
	}
}

// hostWith is the home page of the first host that matches.
func hostWith(t *testing.T, w *Web, match func(host int) bool) string {
	t.Helper()
	for h := range w.cfg.Hosts {
		if match(h) {
			return w.Home(h)
		}
	}
	t.Fatal("no such host")
	return ""
}

func TestRobotsFiles(t *testing.T) {
	cfg := Plain(400, 6000)
	cfg.Robots, cfg.Sitemaps, cfg.CrawlDelay = true, true, 1500*time.Millisecond
	s := serve(t, cfg, Options{})
	w, c := s.Web(), client(t, s)
	for kind, want := range map[robotsKind]struct {
		status int
		text   string
	}{
		robotsNone: {404, ""}, robotsRules: {200, "Disallow: /private/\n"}, robotsDelay: {200, "Crawl-delay: 1.5\n"},
		robotsMoved: {301, ""}, robotsAbroad: {301, ""}, robotsFailing: {503, ""},
	} {
		home := hostWith(t, w, func(h int) bool { return w.robots(h) == kind })
		resp, body := fetch(t, c, "GET", home+"robots.txt")
		if resp.StatusCode != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("kind %d: %d %s", kind, resp.StatusCode, body)
		}
		host := resp.Request.URL.Host
		if w.Allowed(host, "/") == (kind == robotsFailing) ||
			w.Allowed(host, "/private/page-1.html") != (kind == robotsNone) {
			t.Errorf("kind %d: Allowed is wrong", kind)
		}
		if w.Allowed(host, "/private/open-1.html") == (kind == robotsFailing) || !w.Allowed(host, "/robots.txt") {
			t.Errorf("kind %d: Allowed is wrong about exceptions", kind)
		}
		if (w.CrawlDelay(host) == cfg.CrawlDelay) != (kind == robotsDelay) {
			t.Errorf("kind %d: crawl-delay %v", kind, w.CrawlDelay(host))
		}
		if resp.StatusCode != http.StatusMovedPermanently {
			continue
		}
		to, _ := resp.Location()
		if (to.Host == host) != (kind == robotsMoved) {
			t.Errorf("kind %d: moved to %v", kind, to)
		}
		if resp, body := fetch(t, c, "GET", to.String()); resp.StatusCode != http.StatusOK ||
			!bytes.Contains(body, []byte("Disallow: /private/")) {
			t.Errorf("kind %d: %s answers %d %s", kind, to, resp.StatusCode, body)
		}
	}
}

func TestSitemapsListWhatIsThere(t *testing.T) {
	cfg := everything()
	cfg.Hosts, cfg.Pages, cfg.PagesZipf = 3, 25_000, 2
	w := New(cfg)
	index := get(t, w, w.Home(0)+"sitemap.xml")
	if !bytes.Contains(index.Body, []byte("<sitemapindex")) {
		t.Fatalf("a host of %d pages has no sitemap index", w.pages(0))
	}
	listed := map[string]bool{}
	read := func(body []byte) {
		for _, part := range strings.Split(string(body), "<loc>")[1:] {
			loc, _, _ := strings.Cut(part, "</loc>")
			listed[html.UnescapeString(loc)] = true
		}
	}
	for _, part := range strings.Split(string(index.Body), "<loc>")[1:] {
		loc, _, _ := strings.Cut(part, "</loc>")
		z, err := gzip.NewReader(bytes.NewReader(get(t, w, loc).Body))
		if err != nil {
			t.Fatalf("%s: %v", loc, err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", loc, err)
		}
		read(body)
	}
	read(get(t, w, w.Home(1)+"sitemap.xml").Body)
	read(get(t, w, w.Home(2)+"sitemap.xml").Body)
	for p := range w.Pages {
		private := strings.Contains(p.URL, "/private/")
		if want := p.Status == 200 && !private && !p.NoIndex; listed[p.URL] != want {
			t.Fatalf("%s in a sitemap: %v, want %v", p.URL, !want, want)
		}
		delete(listed, p.URL)
	}
	for u := range listed {
		t.Errorf("a sitemap lists %s, which does not exist", u)
	}
	for _, path := range []string{"sitemap-99.xml.gz", "sitemap-x.xml.gz", "sitemap-0.xml", "sitemap",
		"sitemap--1.xml.gz"} {
		if r := get(t, w, w.Home(0)+path); r.Status != 404 {
			t.Errorf("/%s answers %d", path, r.Status)
		}
	}
}

func TestConditionalRequestsHeadAndGzip(t *testing.T) {
	cfg := Plain(1, 50)
	cfg.Gzip, cfg.HeaderNoise = 1, 20
	s := serve(t, cfg, Options{})
	c, home := client(t, s), s.Web().Home(0)
	resp, body := fetch(t, c, "GET", home)
	if len(resp.Header) < 20 {
		t.Errorf("only %d header fields", len(resp.Header))
	}
	tag, modified := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	for _, h := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", modified}} {
		if resp, _ := fetch(t, c, "GET", home, h...); resp.StatusCode != http.StatusNotModified {
			t.Errorf("%v answers %d, want 304", h, resp.StatusCode)
		}
	}
	for _, h := range [][]string{{"If-None-Match", `"other"`}, {"If-Modified-Since", "Mon, 01 Jan 1990 00:00:00 GMT"},
		{"If-Modified-Since", "soon"}} {
		if resp, _ := fetch(t, c, "GET", home, h...); resp.StatusCode != http.StatusOK {
			t.Errorf("%v answers %d, want 200", h, resp.StatusCode)
		}
	}
	resp, none := fetch(t, c, "HEAD", home)
	if len(none) > 0 || resp.ContentLength != int64(len(body)) {
		t.Errorf("HEAD: %d bytes, length %d, want 0 and %d", len(none), resp.ContentLength, len(body))
	}
	resp, packed := fetch(t, c, "GET", home, "Accept-Encoding", "br, gzip")
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("no gzip: %v", err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || !bytes.Equal(unpacked, body) {
		t.Errorf("gzip does not hold the page: %v", err)
	}
	if resp, _ := fetch(t, c, "POST", home); resp.StatusCode != http.StatusMethodNotAllowed || !resp.Close {
		t.Errorf("POST answers %d, close %v", resp.StatusCode, resp.Close)
	}
}

func TestSpecialHosts(t *testing.T) {
	cfg := Plain(3, 30)
	cfg.DeadHosts, cfg.NXHosts, cfg.SlowHosts, cfg.TrapHosts, cfg.SlowByte = 1, 1, 3, 1, 5*time.Millisecond
	s := serve(t, cfg, Options{})
	c := client(t, s)
	url := func(host string) string { return fmt.Sprintf("http://%s:%d/", host, s.Port()) }
	if _, err := c.Get(url("dead-00000.test")); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dead host: %v", err)
	}
	var dnsErr *net.DNSError
	if _, err := c.Get(url("nx-00000.test")); !errors.As(err, &dnsErr) || !dnsErr.IsNotFound {
		t.Errorf("unknown host: %v", err)
	}
	start := time.Now()
	resp, _ := fetch(t, c, "GET", url("slow-00002.test")+"robots.txt")
	if took := time.Since(start); took < time.Duration(resp.ContentLength)*cfg.SlowByte {
		t.Errorf("%d slow bytes took %v", resp.ContentLength, took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // for the request to reach it, on any machine
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url("slow-00001.test"), nil)
	if _, err := c.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent host: %v", err)
	}
	waitFor(t, s, 2)
	if e := s.Log().Entries()[1]; !e.Cut || e.Status != 0 || time.Duration(e.End-e.Start) > time.Minute {
		t.Errorf("the log does not see the client leave a silent host: %+v", e)
	}
	linked := map[string]bool{}
	for h := range 3 {
		resp, body := fetch(t, c, "GET", s.Web().Home(h))
		for _, u := range links(t, s.Web().Home(h), resp, body) {
			linked[u] = true
		}
	}
	n := 0
	for kind, homes := range s.Web().Specials() {
		for _, home := range homes {
			if n++; !linked[home] {
				t.Errorf("no index page links the %s host %s", kind, home)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d special hosts, want 6", n)
	}
}

// waitFor waits until the log has n entries: a request that the client gave up is logged when the server notices.
func waitFor(t *testing.T, s *Server, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); s.Log().Count() < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests in the log, want %d", s.Log().Count(), n)
		}
		time.Sleep(time.Millisecond) // polls; the loop above bounds it
	}
}

func TestTrapsNeverEnd(t *testing.T) {
	cfg := Plain(1, 1)
	cfg.TrapHosts = 1
	s := serve(t, cfg, Options{})
	c := client(t, s)
	home := fmt.Sprintf("http://trap-00000.test:%d/", s.Port())
	for _, start := range []string{"calendar/2024/1/", "deep/a/", "session/1?PHPSESSID=start", "shop?sort=price"} {
		seen, queue := map[string]bool{}, []string{home + start}
		for ; len(queue) > 0 && len(seen) < 300; queue = queue[1:] {
			resp, body := fetch(t, c, "GET", queue[0])
			for _, u := range links(t, queue[0], resp, body) {
				if !seen[u] {
					seen[u] = true
					queue = append(queue, u)
				}
			}
		}
		if len(seen) < 300 {
			t.Errorf("%s has only %d addresses", start, len(seen))
		}
	}
}

func TestRefusalsAskForPatienceThenYield(t *testing.T) {
	cfg := Plain(2, 400)
	cfg.Unavailable = 0.1
	s := serve(t, cfg, Options{})
	c, n := client(t, s), 0
	for p := range s.Web().Pages {
		for range p.Refusals {
			n++
			resp, _ := fetch(t, c, "GET", p.URL)
			if resp.StatusCode != p.RefusalStatus || resp.Header.Get("Retry-After") != fmt.Sprint(p.RetryAfter) ||
				p.RetryAfter < 1 || p.RetryAfter > 3 {
				t.Fatalf("%s answers %d with Retry-After %q", p.URL, resp.StatusCode, resp.Header.Get("Retry-After"))
			}
		}
		if p.Refusals > 0 {
			if resp, _ := fetch(t, c, "GET", p.URL); resp.StatusCode != http.StatusOK {
				t.Fatalf("%s answers %d in the end", p.URL, resp.StatusCode)
			}
		}
	}
	if n == 0 {
		t.Error("no page refuses")
	}
}

func TestTLS(t *testing.T) {
	cfg := Plain(3, 9)
	cfg.TLS = true
	s := serve(t, cfg, Options{})
	c := client(t, s)
	for h := range 3 {
		if resp, _ := fetch(t, c, "GET", s.Web().Home(h)); resp.StatusCode != http.StatusOK || resp.TLS == nil {
			t.Errorf("%s answers %d", s.Web().Home(h), resp.StatusCode)
		}
	}
	c.Transport.(*http.Transport).TLSClientConfig = nil
	c.Transport.(*http.Transport).CloseIdleConnections()
	if _, err := c.Get(s.Web().Home(0)); err == nil {
		t.Error("an unknown authority is trusted")
	}
}

func readLogFile(t *testing.T, file string) []Entry {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestLogTellsWhatHappened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	cfg := Plain(2, 20)
	cfg.Delay = 20 * time.Millisecond
	s := serve(t, cfg, Options{LogFile: file, KeepLog: true})
	c := client(t, s)
	var wg sync.WaitGroup
	for h := range 2 {
		wg.Go(func() {
			for range 3 {
				fetch(t, c, "GET", s.Web().Home(h)+"?x=1", "User-Agent", "witness/1")
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	written, kept := readLogFile(t, file), s.Log().Entries()
	for _, entries := range [][]Entry{written, kept} { // two requests that end at once may be written in either order
		slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Start, b.Start) })
	}
	if len(kept) != 6 || fmt.Sprint(kept) != fmt.Sprint(written) {
		t.Fatalf("kept %v\nwritten %v", kept, written)
	}
	conns := map[uint64]string{}
	for _, e := range kept {
		addr, _ := s.Addr(e.Host)
		if e.Path != "/?x=1" || e.Status != 404 || e.UserAgent != "witness/1" || e.Local != addr.Addr().String() || e.Cut ||
			e.Bytes == 0 {
			t.Errorf("%+v", e)
		}
		if e.End-e.Start < int64(cfg.Delay) || e.Start < s.Begin().UnixNano() {
			t.Errorf("from %d to %d", e.Start, e.End)
		}
		if remote, ok := conns[e.Conn]; ok && remote != e.Remote {
			t.Errorf("connection %d is from %s and %s", e.Conn, remote, e.Remote)
		}
		conns[e.Conn] = e.Remote
	}
	if len(conns) != 2 {
		t.Errorf("%d connections, want one a host", len(conns))
	}
	if v := CheckPoliteness(kept, Rules{}); len(v) > 0 {
		t.Errorf("one at a time is a violation: %v", v)
	}
	if v := CheckPoliteness(kept, Rules{HostDelay: time.Minute}); len(v) != 4 {
		t.Errorf("%d violations, want 4", len(v))
	}
}

// exchange sends raw bytes and returns the statuses of all answers.
func exchange(t *testing.T, s *Server, text string) (statuses []int) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	c.(*net.TCPConn).CloseWrite()
	for br := bufio.NewReader(c); ; {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return statuses
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		statuses = append(statuses, resp.StatusCode)
	}
}

func TestRequestsAsTheyCome(t *testing.T) {
	cfg := Plain(1, 1)
	cfg.Addresses = 1
	s := serve(t, cfg, Options{})
	const host = "Host: www.site-00000.test\r\n"
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"pipelined":       {"GET / HTTP/1.1\r\n" + host + "\r\nGET /x HTTP/1.1\r\n" + host + "\r\n", "[200 404]"},
		"HTTP/1.0 closes": {"GET / HTTP/1.0\r\n" + host + "\r\nGET / HTTP/1.0\r\n" + host + "\r\n", "[200]"},
		"as to a proxy":   {"GET http://www.site-00000.test/ HTTP/1.1\r\nHost: proxy\r\n\r\n", "[200]"},
		"no such host":    {"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "[421]"},
		"no host":         {"GET / HTTP/1.1\r\n\r\n", "[421]"},
		"garbage":         {"hello\r\n\r\n", "[400]"},
		"long line":       {"GET /" + strings.Repeat("x", requestBuffer) + " HTTP/1.1\r\n", "[400]"},
		"many fields":     {"GET / HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", maxFields+1) + "\r\n", "[400]"},
		"cut off":         {"GET / HTTP/1.1\r\nHo", "[]"},
		"asked to close": {"GET / HTTP/1.1\r\nConnection: Close\r\n" + host + "\r\nGET / HTTP/1.1\r\n" + host + "\r\n",
			"[200]"},
		"body": {"GET / HTTP/1.1\r\nContent-Length: 5\r\n" + host + "\r\nhello", "[200]"},
	} {
		if got := fmt.Sprint(exchange(t, s, c.text)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
