package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// shop answers with a page of 20 links, 10 of them to PDF files, and counts who asked.
func shop(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title><p>This is %s and nothing else.", r.URL.Path, r.URL.Path)
	for i := range 10 {
		fmt.Fprintf(w, "<a href=/p%d.html>%d</a> <a href=/d%d.PDF>%d</a>\n", i, i, i, i)
	}
}

// crawlTo crawls into a directory of its own, without delays and with private addresses permitted.
func crawlTo(t *testing.T, args ...string) (r ran, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	return run(t, append([]string{"crawl", "-o", dir, "--allow-private", "--delay", "0s"}, args...)...), dir
}

func TestACertificateThatIsNotValid(t *testing.T) {
	long(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(shop))
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	defer srv.Close()
	if r, _ := crawlTo(t, srv.URL+"/", "--max-depth", "0"); r.exit != 1 ||
		!strings.Contains(r.stderr, "certificate is not valid") {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	r, dir := crawlTo(t, srv.URL+"/", "--insecure", "--max-pages", "3")
	if r.exit != 0 {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	records := strings.Split(strings.TrimSpace(string(wholeFile(t, filepath.Join(dir, "pages.jsonl")))), "\n")
	for _, line := range records {
		if !strings.Contains(line, `"insecure":true`) {
			t.Errorf("a record says nothing: %s", line)
		}
	}
	log := string(wholeFile(t, filepath.Join(dir, "crawl.log")))
	if n := strings.Count(log, "insecure: the certificate is not valid"); len(records) != 3 || n < 3 {
		t.Errorf("%d records, %d lines of the log say so", len(records), n)
	}
	if r := run(t, "explain", "-o", dir, srv.URL+"/"); !strings.Contains(r.stdout,
		"insecure: the certificate is not valid") {
		t.Errorf("explain: %s", r.stdout)
	}
	if r := run(t, "export", "-o", dir, "--format", "csv", "--columns", "url,insecure"); strings.Count(r.stdout,
		",true") != 3 {
		t.Errorf("export: %s %s", r.stdout, r.stderr)
	}
}

// identity writes a certificate of its own and its key.
func identity(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "crawler"},
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	for file, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func TestAServerThatWantsToKnowTheCrawler(t *testing.T) {
	long(t)
	cert, key, pool := identity(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(shop))
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	srv.StartTLS()
	defer srv.Close()
	if r, _ := crawlTo(t, srv.URL+"/", "-k", "--max-depth", "0"); r.exit != 1 {
		t.Errorf("without a certificate: exit %d: %s", r.exit, r.stderr)
	}
	r, dir := crawlTo(t, srv.URL+"/", "-k", "--max-depth", "0", "--cert", cert, "--key", key)
	if r.exit != 0 {
		t.Errorf("exit %d: %s", r.exit, r.stderr)
	}
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(string(wholeFile(t, path)), string(secret[40:80])) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := crawlTo(t, srv.URL+"/", "-k", "--cert", key); r.exit != 2 {
		t.Errorf("a file that is no certificate: exit %d: %s", r.exit, r.stderr)
	}
}

// relay is an HTTP proxy that takes every host for the one server. It notes what it was asked, and who asked.
type relay struct {
	*httptest.Server
	mu    sync.Mutex
	asked int
	auth  map[string]int
	down  bool
}

func newRelay(t *testing.T, to string) *relay {
	x := &relay{auth: map[string]int{}}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		x.asked++
		x.auth[r.Header.Get("Proxy-Authorization")]++
		down := x.down
		x.mu.Unlock()
		if down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		resp, err := http.Get(to + r.URL.RequestURI()) //nolint:noctx // it lasts as long as the test
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(x.Close)
	return x
}

func (x *relay) set(down bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.down = down
}

func (x *relay) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// Proxies take turns; one that is dead and one that refuses fail no URL; a password is nowhere in what is written.
func TestProxiesTakeTurnsInACrawl(t *testing.T) {
	long(t)
	site := httptest.NewServer(http.HandlerFunc(shop))
	defer site.Close()
	a, b := newRelay(t, site.URL), newRelay(t, site.URL)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer refusing.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	withPassword, err := url.Parse(a.URL)
	if err != nil {
		t.Fatal(err)
	}
	withPassword.User = url.UserPassword("crawler", "hunter2secret")
	r, dir := crawlTo(t, "http://shop.test/", "--media-type", "*/*", "--proxy", withPassword.String(), "--proxy", b.URL,
		"--proxy", refusing.URL, "--proxy", "http://"+dead.Addr().String())
	log := string(wholeFile(t, filepath.Join(dir, "crawl.log")))
	if n := strings.Count(log, `"kind":"page","verdict":"done"`); r.exit != 0 || n != 21 ||
		strings.Contains(log, `"verdict":"failed"`) {
		t.Errorf("exit %d, %d URLs done of 21: %s\n%s", r.exit, n, r.stderr, log)
	}
	if !strings.Contains(log, `"reason":"proxy"`) {
		t.Error("no line of the log tells of the proxy that refused")
	}
	if x, y := a.count(), b.count(); x < 5 || y < 5 || a.auth["Basic Y3Jhd2xlcjpodW50ZXIyc2VjcmV0"] != x {
		t.Errorf("%d and %d requests; credentials %v", x, y, a.auth)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(string(wholeFile(t, path)), "hunter2secret") {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil || strings.Contains(r.stderr+r.stdout, "hunter2secret") {
		t.Errorf("%v: %s", err, r.stderr)
	}
}

// While the only proxy is out of order nothing fails and hardly anything is asked; then the crawl goes on by itself.
func TestAProxyThatIsOutOfOrderForAWhile(t *testing.T) {
	long(t)
	site := httptest.NewServer(http.HandlerFunc(shop))
	defer site.Close()
	x := newRelay(t, site.URL)
	x.set(true)
	back := time.AfterFunc(8*time.Second, func() { x.set(false) })
	defer back.Stop()
	r, dir := crawlTo(t, "http://shop.test/", "--media-type", "*/*", "--proxy", x.URL)
	log := string(wholeFile(t, filepath.Join(dir, "crawl.log")))
	if n := strings.Count(log, `"kind":"page","verdict":"done"`); r.exit != 0 || n != 21 ||
		strings.Contains(log, `"verdict":"failed"`) {
		t.Errorf("exit %d, %d URLs done of 21: %s\n%s", r.exit, n, r.stderr, log)
	}
	if x.count() > 21+3+20 {
		t.Errorf("the proxy was asked %d times", x.count())
	}
}

func TestANameThatTheJobResolves(t *testing.T) {
	long(t)
	site := httptest.NewServer(http.HandlerFunc(shop))
	defer site.Close()
	_, port, _ := net.SplitHostPort(site.Listener.Addr().String())
	r, dir := crawlTo(t, "http://no-such-name.test:"+port+"/", "--resolve", "no-such-name.test:"+port+":127.0.0.1",
		"--skip-ext", "pdf")
	if n := strings.Count(string(wholeFile(t, filepath.Join(dir, "pages.jsonl"))), "\n"); r.exit != 0 || n != 11 {
		t.Errorf("exit %d, %d pages of 11: %s", r.exit, n, r.stderr)
	}
	log := string(wholeFile(t, filepath.Join(dir, "crawl.log")))
	if n := strings.Count(log, `"reason":"extension"`); n != 10 {
		t.Errorf("%d URLs were left out for their extension, want 10", n)
	}
	if r, _ := crawlTo(t, "http://no-such-name.test:"+port+"/", "--resolve", "no-such-name.test:"+port+":127.0.0.1",
		"-6"); r.exit != 1 ||
		!strings.Contains(r.stderr, "no IPv6 address") {
		t.Errorf("-6: exit %d: %s", r.exit, r.stderr)
	}
}

// An address that a job gives a host is as private as any other.
func TestAResolvedAddressIsGuarded(t *testing.T) {
	long(t)
	dir := filepath.Join(t.TempDir(), "out")
	r := run(t, "crawl", "-o", dir, "http://no-such-name.test:8080/", "--resolve", "no-such-name.test:8080:127.0.0.1",
		"--delay", "0s")
	if r.exit != 1 || !strings.Contains(r.stderr, "private-address") {
		t.Errorf("exit %d: %s", r.exit, r.stderr)
	}
}
