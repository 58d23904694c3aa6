package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// shownBy is what a site learned of who asked.
type shownBy struct {
	agent, path, cookie, auth, key string
	cert, proxied                  bool
}

// witness is a site that gives each visitor a cookie of its own, and remembers who showed what.
type witness struct {
	mu     sync.Mutex
	visits []shownBy
	next   http.Handler
}

func (s *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := shownBy{agent: r.UserAgent(), path: r.URL.Path, cookie: r.Header.Get("Cookie"),
		auth: r.Header.Get("Authorization"), key: r.Header.Get("X-Api-Key"), cert: r.TLS != nil &&
			len(r.TLS.PeerCertificates) > 0, proxied: r.Header.Get("X-Relayed") != ""}
	s.mu.Lock()
	s.visits = append(s.visits, v)
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "of-" + ownerOf(v.agent), Value: "cookie-of-" + ownerOf(v.agent), Path: "/"})
	s.next.ServeHTTP(w, r)
}

func (s *witness) seen() []shownBy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]shownBy{}, s.visits...)
}

// ownerOf is the execution that a User-Agent names.
func ownerOf(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	return name
}

// The secrets of the executions, which are in the environment of the server alone.
var serveSecrets = map[string]string{"MEMBERS_PASSWORD": membersPassword, "MEMBERS_KEY": membersKey,
	"BASIC_PASSWORD": "basic-Zq9-secret", "BEARER_TOKEN": "bearer-Ty5-secret", "GIVEN_COOKIE": "given-Wp3-secret",
	"PROXY_PASSWORD": "proxy-Lk8-secret"}

// sharers are the definitions of workflows that crawl the same two hosts at once, each in its own way.
func sharers(site, safe, proxy, cert, key string) map[string]func(*crawl.Job) {
	return map[string]func(*crawl.Job){
		"nobody": func(*crawl.Job) {},
		"member": func(j *crawl.Job) {
			j.Login = crawl.Login{URL: site + "/login",
				Fields: map[string]string{"name": "alice", "password": "${MEMBERS_PASSWORD}"},
				Check:  crawl.LoginCheck{CSS: "a.logout"}}
			j.Headers = []crawl.HeaderRule{{Name: "X-Api-Key", Value: "${MEMBERS_KEY}"}}
		},
		"basic":  func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{User: "ada", Password: "${BASIC_PASSWORD}"}} },
		"bearer": func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{Bearer: "${BEARER_TOKEN}"}} },
		"given":  func(j *crawl.Job) { j.Cookie = []crawl.CookieRule{{Name: "given", Value: "${GIVEN_COOKIE}"}} },
		"known": func(j *crawl.Job) {
			j.Seeds = []string{safe + "/"}
			j.Network.Certificates = []crawl.Certificate{{Cert: cert, Key: key}}
		},
		"unknown": func(j *crawl.Job) { j.Seeds = []string{safe + "/"} },
		"relayed": func(j *crawl.Job) {
			j.Network.Proxies = []string{strings.Replace(proxy, "http://", "http://proxy:${PROXY_PASSWORD}@", 1)}
		},
	}
}

// Executions of one server that crawl the same hosts at once, and are killed with it, show nobody what belongs to
// another: cookies, log-in, credentials, proxy, client certificate. No secret is written, nor answered.
func TestExecutionsOfAServerShareNothingPersonal(t *testing.T) {
	long(t)
	t.Parallel()
	const pages = 120 // enough for more requests than those before the last kill: with 40 there were 87 in some runs
	site := &witness{next: fakeweb.NewMembers("alice", membersPassword, pages, 15)}
	plain, safe := httptest.NewServer(site), httptest.NewUnstartedServer(site)
	safe.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	safe.StartTLS()
	relayed := httptest.NewServer(relayTo(plain.URL))
	for _, s := range []*httptest.Server{plain, safe, relayed} {
		t.Cleanup(s.Close)
	}
	s := newServer(t, serve(t, fakeweb.Plain(1, 1), 0))
	for name, value := range serveSecrets {
		s.env = append(s.env, name+"="+value)
	}
	cert, key := identityIn(t, filepath.Join(s.dir, "files"))
	var said bytes.Buffer
	p := s.start(t)
	s.ready(t, p)
	all := sharers(plain.URL, safe.URL, relayed.URL, cert, key)
	for name, change := range all {
		job := crawl.DefaultJob()
		job.ID, job.Seeds, job.Scope, job.AllowPrivate = crawl.JobID(name), []string{plain.URL + "/"}, crawl.ScopeHost, true
		job.UserAgent, job.MaxDepth = name+"/1.0", -1
		job.Politeness.Delay, job.Politeness.IPDelay, job.Network.Insecure = 0, 0, true
		change(&job)
		source, err := jobfile.Marshal(&job)
		harness.Check(t, err)
		_, err = s.api.CreateWorkflow(t.Context(), api.NewWorkflow{Slug: name, Source: string(source)})
		harness.Check(t, err)
		_, err = s.api.Run(t.Context(), name, workflow.Overrides{})
		harness.Check(t, err)
	}
	for i := range 3 {
		p.poll(t, "requests", func() bool { return len(site.seen()) >= (i+1)*30 })
		p.kill(t)
		said.WriteString(p.out.String())
		p = s.start(t)
		s.ready(t, p)
	}
	harness.Until(t, patience, "all executions to end", func() bool {
		for name := range all {
			x, err := s.api.Execution(t.Context(), crawl.JobID(name+"-1"))
			harness.Check(t, err)
			if !x.State.Ended() {
				return false
			}
		}
		return true
	})
	own := s.answers(t, all)
	wantOwnOnly(t, site.seen(), len(all))
	p.kill(t)
	said.WriteString(p.out.String() + own)
	noSecretIn(t, filepath.Dir(s.dir), said.String(), site.seen())
}

// identityIn makes a certificate and its key in a directory, where a server reads files.
func identityIn(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	harness.Check(t, os.MkdirAll(dir, 0o700))
	c, k, _ := identity(t)
	cert, key = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	harness.Check(t, os.Rename(c, cert))
	harness.Check(t, os.Rename(k, key))
	return cert, key
}

// relayTo is a proxy that leads everywhere to one server, and says so.
func relayTo(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		req.Header = r.Header.Clone()
		req.Header.Set("X-Relayed", "yes")
		req.Header.Del("Proxy-Authorization")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}
}

// wantOwnOnly wants each visitor to have shown what is its own, and nothing of another.
func wantOwnOnly(t *testing.T, visits []shownBy, executions int) {
	t.Helper()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:"+serveSecrets["BASIC_PASSWORD"]))
	shown, faults := map[string]map[string]bool{}, 0
	for _, v := range visits {
		who := ownerOf(v.agent)
		if shown[who] == nil {
			shown[who] = map[string]bool{}
		}
		for what, of := range map[string]struct {
			owner string
			shown bool
		}{
			"the certificate": {"known", v.cert}, "the proxy": {"relayed", v.proxied},
			"the name and password": {"basic", v.auth == basic}, "the token": {"bearer",
				v.auth == "Bearer "+serveSecrets["BEARER_TOKEN"]}, "the key": {"member", v.key == membersKey},
			"the cookie":  {"given", strings.Contains(v.cookie, serveSecrets["GIVEN_COOKIE"])},
			"the session": {"member", strings.Contains(v.cookie, "session=")},
		} {
			if !of.shown {
				continue
			}
			if shown[who][what] = true; who != of.owner && faults < 10 {
				faults++
				t.Errorf("%s asks for %s with %s of %s", who, v.path, what, of.owner)
			}
		}
		for pair := range strings.SplitSeq(v.cookie, "; ") {
			if owner, ok := strings.CutPrefix(pair, "of-"); ok && !strings.HasPrefix(owner, who+"=") && faults < 10 {
				faults++
				t.Errorf("%s asks for %s with the cookie %s", who, v.path, pair)
			} else if ok {
				shown[who]["a cookie"] = true
			}
		}
	}
	t.Logf("%d requests of %d executions; shown: %v", len(visits), len(shown), shown)
	if want := 8 + 7; faults == 0 && countOf(shown) != want || len(shown) != executions {
		t.Errorf("%d executions showed %d things, want %d: the test proves little", len(shown), countOf(shown), want)
	}
}

func countOf(shown map[string]map[string]bool) (n int) {
	for _, things := range shown {
		n += len(things)
	}
	return n
}

// answers are what the API says of all executions: whatever GET there is without parameters but the name.
func (s *server) answers(t *testing.T, names map[string]func(*crawl.Job)) string {
	t.Helper()
	var b strings.Builder
	get := func(path string) {
		status, data := s.get(t, path)
		fmt.Fprintf(&b, "%s %d %s\n", path, status, data)
		if status != http.StatusOK && status != http.StatusNotFound && status != http.StatusConflict {
			t.Errorf("GET %s: %d %.200s", path, status, data)
		}
	}
	for _, path := range readable(t) {
		if !strings.Contains(path, "{") {
			get(path)
			continue
		}
		for name := range names {
			get(strings.NewReplacer("{ex}", name+"-1", "{wf}", name, "{n}", "1").Replace(path))
		}
	}
	t.Logf("the API's answers have %d bytes", b.Len())
	return b.String()
}

// get asks the API, again whenever it says that this key asks too often, as a client should.
func (s *server) get(t *testing.T, path string) (status int, data []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+path, nil)
		harness.Check(t, err)
		req.Header.Set("Authorization", "Bearer "+s.key)
		resp, err := http.DefaultClient.Do(req)
		harness.Check(t, err)
		data, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		harness.Check(t, err)
		if resp.StatusCode != http.StatusTooManyRequests {
			return resp.StatusCode, data
		}
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		harness.Check(t, err)
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

// readable are the paths of the API that can be read without knowing more than the names of workflows and executions.
func readable(t *testing.T) (paths []string) {
	t.Helper()
	var description struct {
		Paths map[string]map[string]any
	}
	data, err := os.ReadFile("../../../api/openapi.yaml")
	harness.Check(t, err)
	harness.Check(t, yaml.Unmarshal(data, &description))
	for path, methods := range description.Paths {
		needs := strings.NewReplacer("{ex}", "", "{wf}", "", "{n}", "").Replace(path)
		if methods["get"] != nil && !strings.Contains(needs, "{") && !needsMore[path] {
			paths = append(paths, path)
		}
	}
	if slices.Sort(paths); len(paths) < 20 {
		t.Errorf("only %d paths can be read: %q", len(paths), paths)
	}
	return paths
}

// needsMore are paths that answer only to who gives more than names, or that have no end.
var needsMore = map[string]bool{"/api/v1/compare": true, "/api/v1/compare/changes": true, "/api/v1/compare/texts": true,
	"/api/v1/events": true, "/api/v1/executions/{ex}/explain": true, "/api/v1/executions/{ex}/graph": true,
	"/api/v1/workflows/{wf}/versions/{n}/diff": true}

// noSecretIn looks for secrets in all files below a directory and in what was said. The sites' cookies may be in the
// state, which is what it is for.
func noSecretIn(t *testing.T, dir, said string, visits []shownBy) {
	t.Helper()
	var secrets []string
	for _, s := range serveSecrets {
		secrets = append(secrets, s)
	}
	secrets = append(secrets, "Xq7-hunter%26%3D%252%2Bgeheim",
		base64.StdEncoding.EncodeToString([]byte("ada:"+serveSecrets["BASIC_PASSWORD"])),
		base64.StdEncoding.EncodeToString([]byte("proxy:"+serveSecrets["PROXY_PASSWORD"])))
	sessions := map[string]bool{}
	for _, v := range visits {
		for pair := range strings.SplitSeq(v.cookie, "; ") {
			if value, ok := strings.CutPrefix(pair, "session="); ok {
				sessions[value] = true
			}
		}
	}
	look := func(name string, data []byte) {
		for _, s := range secrets {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("%s has the secret %q", name, s)
			}
		}
		for s := range sessions {
			if bytes.Contains(data, []byte(s)) && !strings.Contains(name, "state") {
				t.Errorf("%s has the session %q", name, s)
			}
		}
	}
	look("output and answers", []byte(said))
	files := 0
	harness.Check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		look(path, data)
		return err
	}))
	t.Logf("%d files, %d sessions", files, len(sessions))
	if files < 20 || len(sessions) == 0 {
		t.Errorf("%d files were looked at for %d sessions: the test proves little", files, len(sessions))
	}
}
