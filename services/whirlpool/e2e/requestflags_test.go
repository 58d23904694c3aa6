package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// keeper is a site that wants a password, a header and a cookie, and notes what it gets.
type keeper struct {
	mu   sync.Mutex
	seen []http.Header
}

const keeperPassword = "flag-Pw%77-geheim"

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = append(k.seen, r.Header.Clone())
	user, password, _ := r.BasicAuth()
	if user != "ada" || password != keeperPassword {
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Set-Cookie", "rolling="+fmt.Sprint(len(k.seen)))
	fmt.Fprintf(w, `<title>%s</title>%s<a href="/a">a</a> <a href="/b">b</a> <a href="/logout">out</a>`, r.URL.Path,
		strings.Repeat(r.URL.Path+" ", 50))
}

// Secrets that flags give literally are used, written nowhere, and asked for again when the crawl goes on.
func TestSecretsOfFlagsAreInMemoryOnly(t *testing.T) {
	long(t)
	t.Parallel()
	k := &keeper{}
	srv := httptest.NewServer(k)
	t.Cleanup(srv.Close)
	dir := filepath.Join(t.TempDir(), "work", "out")
	flags := []string{"--user", "ada", "--password", keeperPassword, "--cookie", "session=" + keeperPassword, "--header",
		"X-Client: here", "--header", "X-Api-Key: " + keeperPassword, "--accept-language", "de"}
	crawl := append([]string{"crawl", srv.URL, "-o", dir, "--allow-private", "--delay", "0s", "--warc", "-v",
		"--max-pages", "2"}, flags...)
	r := run(t, crawl...)
	if r.exit != 0 {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	said := r.stdout + r.stderr
	last := k.seen[len(k.seen)-1]
	for name, want := range map[string]string{"X-Client": "here", "X-Api-Key": keeperPassword, "Accept-Language": "de"} {
		if last.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, last.Get(name), want)
		}
	}
	if got := last.Get("Cookie"); !strings.Contains(got, "session="+keeperPassword) || !strings.Contains(got, "rolling=") {
		t.Errorf("Cookie: %q", got)
	}

	r = run(t, "crawl", "-o", dir, "--allow-private", "--max-pages", "0")
	said += r.stdout + r.stderr
	if r.exit != 2 || !strings.Contains(r.stderr, "WHIRLPOOL_GIVEN_PASSWORD") ||
		!strings.Contains(r.stderr, "give the flag again") {
		t.Errorf("without the secrets: exit %d: %s", r.exit, r.stderr)
	}
	r = run(t, append([]string{"crawl", "-o", dir, "--allow-private", "--max-pages", "0", "--delay", "0s"}, flags...)...)
	said += r.stdout + r.stderr
	if data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl")); err != nil || r.exit != 0 ||
		strings.Count(string(data), "\n") != 3 {
		t.Errorf("with them again: exit %d, %v: %s", r.exit, err, r.stderr)
	}
	r = run(t, "explain", "-o", dir, srv.URL+"/logout")
	if !strings.Contains(r.stdout, "log-out link") {
		t.Errorf("explain: %s", r.stdout)
	}
	said += r.stdout + run(t, "status", "-o", dir, "--json").stdout
	for _, text := range []string{keeperPassword, "flag-Pw"} {
		if strings.Contains(said, text) {
			t.Errorf("said %q", text)
		}
	}
	nowhereOf(t, dir, keeperPassword, "YWRhOmZsYWct") // the second is that of Basic
}

// nowhereOf is nowhere for secrets of a test's own.
func nowhereOf(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		text := string(data) + string(plainOf(data))
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s has %q", path, s)
			}
		}
		if strings.Contains(text, "Authorization: redacted") && strings.Contains(text, "Cookie: redacted") &&
			strings.Contains(text, "Set-Cookie: rolling=redacted") {
			found++
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d WARC files with what was taken out, %v", found, err)
	}
}

func TestSecretsOfFlagsAreRefusedWhereOthersMakeTheRequests(t *testing.T) {
	long(t)
	for _, command := range [][]string{{"seed", "http://127.0.0.1:9/", "--cluster"}, {"set", "-o", t.TempDir()}} {
		for _, flags := range [][]string{{"--user", "ada", "--password", "p-geheim"}, {"--bearer", "p-geheim"},
			{"--cookie", "a=p-geheim"}, {"--header", "Authorization: p-geheim"}} {
			r := run(t, append(append([]string{}, command...), flags...)...)
			if r.exit != 2 || !strings.Contains(r.stderr, "${NAME}") || strings.Contains(r.stderr+r.stdout, "p-geheim") {
				t.Errorf("%v %v: exit %d: %s", command, flags, r.exit, r.stderr)
			}
		}
	}
	for _, flags := range [][]string{{"--header", "no colon p-geheim"}, {"--cookie", "p-geheim"},
		{"--user", "a:b", "--password", "p-geheim"}, {"--password", "p-geheim"}, {"--user", "a"},
		{"--header", "User-Agent: x"}, {"--bearer", "p-geheim", "--user", "ada"}} {
		r := run(t, append([]string{"crawl", "http://127.0.0.1:9/"}, flags...)...)
		if r.exit != 2 || strings.Contains(r.stderr+r.stdout, "p-geheim") {
			t.Errorf("%v: exit %d: %s", flags, r.exit, r.stderr)
		}
	}
}
