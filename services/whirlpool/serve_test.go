package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// serving is a `whirlpool serve` in this process, and a small site to crawl.
type serving struct {
	dir, url string
	flags    []string
	site     *httptest.Server
	end      func() error
}

// startServe starts it. Without flags private addresses are allowed.
func startServe(t *testing.T, flags ...string) *serving {
	t.Helper()
	if len(flags) == 0 {
		flags = []string{"--allow-private"}
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("WHIRLPOOL_API_KEY", "")
	pages := map[string]string{"/": `<title>Home</title><a href="/a">a</a> <a href="/b">b</a> <a href="/gone">c</a>`,
		"/a": `<title>A</title><p>apple</p><a href="/b">b</a>`, "/b": `<title>B</title><p>banana</p>`}
	s := &serving{dir: filepath.Join(t.TempDir(), "data"), flags: flags}
	s.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := pages[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.site.Close)
	s.start(t)
	return s
}

func (s *serving) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	root, done := newRoot(), make(chan error, 1)
	var out, errs bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"serve", "--dir", s.dir, "--listen", "127.0.0.1:0"}, s.flags...))
	go func() { done <- root.ExecuteContext(ctx) }()
	s.end = func() error { cancel(); return <-done }
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); ; <-tick.C {
		data, err := os.ReadFile(filepath.Join(s.dir, runningFile))
		var at server
		if err == nil && json.Unmarshal(data, &at) == nil {
			s.url = at.URL
			break
		}
		select {
		case err := <-done:
			t.Fatalf("serve ended: %v\n%s", err, errs.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("the server did not start:\n%s", errs.String())
		}
	}
	t.Cleanup(func() { cancel() })
}

func TestServeFromTheFileToTheRecords(t *testing.T) {
	s := startServe(t)
	file := filepath.Join(t.TempDir(), "job.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("id: fruit\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\npoliteness: {delay: 0s}\n")
	at := []string{"--dir", s.dir}
	run := func(args ...string) string { t.Helper(); return must(t, append(args, at...)...) }
	if text := run("apply", "-f", file, "--dry-run"); !strings.Contains(text, "create") {
		t.Errorf("apply --dry-run says\n%s", text)
	}
	if text := run("workflow", "list"); !strings.Contains(text, "no workflows yet") {
		t.Errorf("a dry run made\n%s", text)
	}
	run("apply", "-f", file)
	if text := run("workflow", "run", "fruit", "--watch"); !strings.Contains(text, "fruit-1: succeeded, 3 pages") {
		t.Errorf("the run says\n%s", text)
	}
	on := []string{"--server", s.url, "--job", "fruit-1"}
	key := strings.TrimSpace(run("key", "create", "test", "--role", "operator"))
	t.Setenv("WHIRLPOOL_API_KEY", key)
	for _, c := range []struct{ args, want string }{
		{"status", "3 of at most"}, {"explain " + s.site.URL + "/gone", "404"}, {"audit", "ok "}, {"log", `"status":404`},
		{"export", "banana"},
	} {
		if text := must(t, append(strings.Fields(c.args), on...)...); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.args, c.want, text)
		}
	}
	if text := run("exec", "events", "fruit-1"); !strings.Contains(text, "execution.succeeded") {
		t.Errorf("events:\n%s", text)
	}
	write("id: fruit\nseeds: [\"" + s.site.URL + "/\"]\nallow_private: true\nmax_pages: 1\n")
	if text := run("apply", "-f", file); !strings.Contains(text, "max_pages") {
		t.Errorf("the change says\n%s", text)
	}
	if text := run("workflow", "diff", "fruit"); !strings.Contains(text, "max_pages") {
		t.Errorf("the difference is\n%s", text)
	}
	if err := s.end(); err != nil {
		t.Fatalf("serve ended with %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, runningFile)); err == nil {
		t.Errorf("%s stands there although the server has ended", runningFile)
	}
	s.start(t) // all is there after a restart
	if text := run("exec", "list"); !strings.Contains(text, "fruit-1") || !strings.Contains(text, "succeeded") {
		t.Errorf("after a restart:\n%s", text)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

func TestADefinitionReadsNoOtherFiles(t *testing.T) {
	s := startServe(t)
	file := filepath.Join(t.TempDir(), "job.yml")
	for _, line := range []string{"seed_list: /etc/passwd", "blacklist: ../secret",
		`headers: [{name: X-Key, value: "file:/etc/shadow"}]`,
		"cookies_file: " + filepath.Join(s.dir, "files", "..", "serve.json")} {
		if err := os.WriteFile(file, []byte("id: thief\nseeds: [\"http://a.test/\"]\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := whirlpool(t, "workflow", "create", "-f", file, "--dir", s.dir)
		if r.exit == exitOK || !strings.Contains(r.stderr, "reads only files in") {
			t.Errorf("%s: exit status %d, %s", line, r.exit, r.stderr)
		}
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

// A definition's file of cookies is read when the definition is saved, so that no crawl fails by it later.
func TestADefinitionsCookiesAreReadAtOnce(t *testing.T) {
	f := &serveFlags{dir: t.TempDir()}
	check, err := f.checker(nil)
	if err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(f.dir, filesDir)
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"good.txt": cookieHead, "bad.txt": cookieHead + "a.test\tTRUE\n"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{"good.txt": nil, "bad.txt": {"cookies_file", "bad.txt", "line 2"},
		"none.txt": {"cookies_file", "none.txt", "no such file"}} {
		job := crawl.DefaultJob()
		job.ID, job.Seeds, job.CookiesFile = "x", []string{"http://a.test/"}, filepath.Join(files, name)
		err := check(&job)
		if (err == nil) != (want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", name, err, w)
			}
		}
	}
}

func TestPrivateSeedsWhereNoneArePermitted(t *testing.T) {
	job := func(seeds ...string) *crawl.Job { return &crawl.Job{Seeds: seeds} }
	for _, tt := range []struct {
		allow bool
		job   *crawl.Job
		want  string
	}{
		{false, job("http://127.0.0.1:8000/"), "--allow-private"},
		{false, job("http://localhost/", "http://[::1]/"), "http://localhost/"},
		{false, job("http://localhost/", "http://a.test/"), ""}, {true, job("http://10.0.0.1/"), ""},
		{false, job("http://a.test/"), ""}, {false, job(), ""},
	} {
		f := &serveFlags{engineFlags: engineFlags{allowPrivate: tt.allow}}
		err := f.checkSeeds(tt.job)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v %v: %v, want %q", tt.allow, tt.job.Seeds, err, tt.want)
		}
	}
}

func TestServeListensWhereNobodyCanListenIn(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "--tls-cert"}, {"--listen :0", "--tls-cert"}, {"--listen 192.0.2.1:0", "--behind-proxy"},
		{"--listen nonsense", "with a port"}, {"--no-auth --listen 0.0.0.0:0 --behind-proxy", "this machine alone"},
		{"--no-auth --behind-proxy", "sign in"}, {"--tls-cert x", "go together"}, {"--max-running 0", "at least 1"},
		{"--log-level loud", "debug"}, {"--host https://crawl.example.org", "the name alone"},
		{"--host example.org/a?b", "the name alone"}, {"--host example.org/../a", "the name alone"},
	} {
		r := whirlpool(t, append([]string{"serve", "--dir", t.TempDir()}, strings.Fields(c.args)...)...)
		if r.exit != exitUsage || !strings.Contains(r.stderr, c.want) {
			t.Errorf("serve %s: exit status %d, %q", c.args, r.exit, r.stderr)
		}
	}
}

func TestADirectoryThatAServerHasIsNamedByTheFlag(t *testing.T) {
	s := startServe(t)
	r := whirlpool(t, "serve", "--dir", s.dir, "--listen", "127.0.0.1:0")
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if r.exit != exitFailure || !strings.Contains(r.stderr, s.dir+" is in use") || !strings.Contains(r.stderr, "--dir") ||
		strings.Contains(r.stderr, "--out") {
		t.Errorf("exit status %d, %s", r.exit, r.stderr)
	}
}

func TestNamesOfTheServer(t *testing.T) {
	f := &serveFlags{hosts: []string{"Crawl.example.org"}, cert: "x"}
	a := f.access(addr("0.0.0.0:8711"))
	if a.URL != "https://crawl.example.org:8711" ||
		strings.Join(a.Hosts, " ") != "127.0.0.1:8711 localhost:8711 [::1]:8711 crawl.example.org crawl.example.org:8711" {
		t.Errorf("%s %v", a.URL, a.Hosts)
	}
	f = &serveFlags{hosts: []string{"crawl.example.org"}, behindProxy: true}
	a = f.access(addr("127.0.0.1:8711"))
	if a.URL != "https://crawl.example.org" || !a.Secure {
		t.Errorf("behind a proxy: %+v", a)
	}
	if s := f.here(&a, "key"); s.URL != "http://127.0.0.1:8711" || s.Studio != "https://crawl.example.org" {
		t.Errorf("commands on this machine go to %+v", s)
	}
	f.hosts = []string{"Example.org/Crawler/"}
	if a := f.access(addr("127.0.0.1:8711")); a.URL != "https://example.org/Crawler" || a.Hosts[4] != "example.org" {
		t.Errorf("under a path: %+v", a)
	}
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }
