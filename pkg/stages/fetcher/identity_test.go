package fetcher

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
)

// memJars is a crawl.Jars in memory.
type memJars struct {
	mu   sync.Mutex
	jars map[string]crawl.Jar
	last uint64
	puts int
	asks int
}

func (m *memJars) Jar(_ context.Context, job crawl.JobID, site string) (crawl.Jar, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks++
	jar := m.jars[string(job)+" "+site]
	jar.Site, jar.Cookies = site, slices.Clone(jar.Cookies)
	return jar, nil
}

func (m *memJars) PutJar(_ context.Context, job crawl.JobID, jar *crawl.Jar) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jars[string(job)+" "+jar.Site].Version != jar.Version {
		return 0, crawl.ErrJarChanged
	}
	if m.jars == nil {
		m.jars = map[string]crawl.Jar{}
	}
	m.last++
	m.puts++
	put := *jar
	put.Version = m.last
	m.jars[string(job)+" "+jar.Site] = put
	return m.last, nil
}

func (m *memJars) JarsSince(_ context.Context, job crawl.JobID, version uint64, limit int) (out []crawl.Jar, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks++
	for key, jar := range m.jars {
		if strings.HasPrefix(key, string(job)+" ") && jar.Version > version {
			out = append(out, jar)
		}
	}
	slices.SortFunc(out, func(a, b crawl.Jar) int { return int(a.Version) - int(b.Version) })
	return out[:min(limit, len(out))], nil
}

// mirror shows the header of each request, and does what a test asks for besides.
type mirror struct {
	*httptest.Server
	mu   sync.Mutex
	seen []http.Header
	do   func(w http.ResponseWriter, r *http.Request)
}

func newMirror(t *testing.T) *mirror {
	m := &mirror{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seen = append(m.seen, r.Header)
		w.Header().Set("Content-Type", "text/html")
		if m.do != nil {
			m.do(w, r)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) last() http.Header {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[len(m.seen)-1]
}

func TestWhatIsSentToWhom(t *testing.T) {
	own, other := newMirror(t), newMirror(t)
	t.Setenv("IDENTITY_TOKEN", "t-secret")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("p:w secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mem := &memory{}
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
		j.Seeds, j.AcceptLanguage = []string{own.URL}, "de,en;q=0.5"
		j.Headers = []crawl.HeaderRule{{Name: "x-all", Value: "1"}, {Name: "X-All", Value: "2"},
			{Name: "X-Key", Value: "k ${IDENTITY_TOKEN}"}, {Name: "X-Other", Value: "3", URL: other.URL}}
		j.Auth = []crawl.AuthRule{{User: "ada", Password: "file:" + file}, {URL: other.URL, Bearer: "${IDENTITY_TOKEN}"}}
		j.Cookie = []crawl.CookieRule{{Name: "s", Value: "${IDENTITY_TOKEN}"}}
		d.Archive = mem
	})
	b.get(own.URL+"/x", nil)
	want := map[string]string{"Accept-Language": "de,en;q=0.5", "X-All": "1 2", "X-Key": "k t-secret", "X-Other": "",
		"Cookie": "s=t-secret", "Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:p:w secret"))}
	wantHeader(t, "the seed's host", own.last(), want)
	b.get(other.URL+"/x", nil)
	maps.Copy(want, map[string]string{"X-Key": "", "X-Other": "3", "Cookie": "", "Authorization": "Bearer t-secret"})
	wantHeader(t, "the other host", other.last(), want)
	if text := fmt.Sprint(mem.exchanges[0].RequestHeader, mem.exchanges[1].RequestHeader); strings.Contains(text,
		"t-secret") || strings.Contains(text, "Basic ") ||
		!strings.Contains(text, "X-All:[1 2]") || strings.Count(text, redacted) != 4 {
		t.Errorf("archived: %s", text)
	}
	var robots http.Header
	b.get(own.URL+"/robots.txt", func(f *crawl.Fetch) { f.Task.Kind = crawl.KindRobots })
	if robots = own.last(); robots.Get("Authorization") == "" || robots.Get("Cookie") != "" {
		t.Errorf("robots.txt is asked for with %v", robots)
	}
}

func wantHeader(t *testing.T, who string, got http.Header, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if text := strings.Join(got[name], " "); text != value {
			t.Errorf("%s gets %s %q, want %q", who, name, text, value)
		}
	}
}

func TestCredentialsMayGoUpToHTTPSAndNeverDown(t *testing.T) {
	for _, tc := range []struct {
		site, url string
		want      bool
	}{
		{"http://a.test", "https://a.test/x", true}, {"https://a.test", "http://a.test/", false},
		{"http://a.test:8000", "https://a.test:8000/", false}, {"http://a.test", "http://a.test:8000/", false},
		{"http://a.test", "https://a.test:8443/", false}, {"https://a.test:443", "https://a.test/", true},
		{"https://a.test", "https://www.a.test/", false}, {"http://a.test", "https://b.test/", false},
		{"https://a test", "https://seed.test/", false}, {"http://[::1", "https://seed.test/", false},
		{"", "https://seed.test/", true},
	} {
		if got := gets(originsOf(tc.site, []string{"https://seed.test"}), parse(t, tc.url)); got != tc.want {
			t.Errorf("%s to %s: %v", tc.site, tc.url, got)
		}
	}
}

func TestASecretThatCannotBeRead(t *testing.T) {
	own := newMirror(t)
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) {
		j.Seeds = []string{own.URL}
		j.Auth = []crawl.AuthRule{{User: "ada", Password: "${IDENTITY_NOBODY_SET}"}}
	})
	r := b.get(own.URL, nil)
	if r.Verdict != crawl.VerdictRetry || r.Reason != crawl.ReasonSecret ||
		!strings.Contains(r.Detail, "IDENTITY_NOBODY_SET") || len(own.seen) > 0 {
		t.Errorf("%v %s %s, %d requests", r.Verdict, r.Reason, r.Detail, len(own.seen))
	}
	t.Setenv("IDENTITY_NOBODY_SET", "now")
	if r := b.get(own.URL, nil); r.Verdict != crawl.VerdictDone {
		t.Errorf("when it is there: %v %s", r.Verdict, r.Detail)
	}
}

func TestCookiesAreKept(t *testing.T) {
	own, store := newMirror(t), &memJars{}
	n := 0
	own.do = func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.Header().Add("Set-Cookie", "k=v; Max-Age=9999")
			w.Header().Add("Set-Cookie", "given=g-secret")
		}
	}
	t.Setenv("IDENTITY_GIVEN", "g-secret")
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
		d.Jars, d.OwnJars, j.Seeds = store, true, []string{own.URL}
		j.Cookie = []crawl.CookieRule{{Name: "given", Value: "${IDENTITY_GIVEN}"}}
	})
	b.get(own.URL, nil)
	b.get(own.URL, nil)
	if got := own.last().Get("Cookie"); got != "given=g-secret; k=v" && got != "k=v; given=g-secret" {
		t.Errorf("the second request has %q", got)
	}
	if text := fmt.Sprint(store.jars); strings.Contains(text, "g-secret") || store.puts != 1 {
		t.Errorf("%d jars were stored: %s", store.puts, text)
	}
	b.job.Cookies = crawl.CookiesOff
	if b.get(own.URL, nil); own.last().Get("Cookie") != "given=g-secret" {
		t.Errorf("with cookies off: %q", own.last().Get("Cookie"))
	}
}

// A crawl without cookies asks the store once, whatever the number of pages.
func TestAJobWithoutCookiesCostsNoLookUp(t *testing.T) {
	own, store := newMirror(t), &memJars{}
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
		d.Jars, d.OwnJars, j.Seeds = store, true,
			[]string{own.URL}
	})
	for range 20 {
		b.get(own.URL, nil)
	}
	if store.asks != 1 || store.puts != 0 {
		t.Errorf("%d look-ups, %d changes", store.asks, store.puts)
	}
}

// What another fetcher stores is sent within a second.
func TestFetchersShareCookies(t *testing.T) {
	own, store := newMirror(t), &memJars{}
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) { d.Jars, j.Seeds = store, []string{own.URL} })
	b.get(own.URL, nil)
	jar := crawl.Jar{Site: "127.0.0.1", Cookies: []cookies.Cookie{{Name: "a", Value: "b", Domain: "127.0.0.1", Path: "/"}}}
	if _, err := store.PutJar(context.Background(), "test", &jar); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); own.last().Get("Cookie") != "a=b"; {
		if b.get(own.URL, nil); time.Now().After(deadline) {
			t.Fatal("never sent")
		}
	}
}

func TestARedirectToItselfWithACookie(t *testing.T) {
	own := newMirror(t)
	own.do = func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	}
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
		d.Jars, d.OwnJars, j.Seeds = &memJars{}, true, []string{own.URL}
	})
	if r := b.get(own.URL, nil); r.Verdict != crawl.VerdictRetry || r.Reason != crawl.ReasonCookie {
		t.Errorf("%v %s", r.Verdict, r.Reason)
	}
	if r := b.get(own.URL, nil); r.Verdict != crawl.VerdictDone || r.Status != 200 {
		t.Errorf("with the cookie: %v %d", r.Verdict, r.Status)
	}
}

// A site that sets more cookies than its server takes would be shut for ever.
func TestCookiesThatTheirServerRefusesAreForgotten(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge} {
		own := newMirror(t)
		own.do = func(w http.ResponseWriter, r *http.Request) {
			if len(r.Header.Get("Cookie")) > 8<<10 || r.URL.Path == "/bad" {
				w.WriteHeader(status)
				return
			}
			for i := range 4 {
				http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("bomb", i), Value: strings.Repeat("x", 4000), Path: "/"})
			}
		}
		b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
			d.Jars, d.OwnJars, j.Seeds = &memJars{}, true, []string{own.URL}
		})
		b.get(own.URL, nil).want(t, crawl.VerdictDone, "")
		b.get(own.URL+"/next", nil).want(t, crawl.VerdictRetry, crawl.ReasonCookie)
		b.get(own.URL+"/next", func(f *crawl.Fetch) { f.Task.Attempt = 1 }).want(t, crawl.VerdictDone, "")
		b.get(own.URL+"/another", nil).want(t, crawl.VerdictDone, "") // as many are not kept any more
		b.get(own.URL+"/bad", nil).want(t, crawl.VerdictGone, crawl.ReasonStatus)
	}
}

// BenchmarkWithoutCookies is what a page pays that has none of all this.
func BenchmarkWithoutCookies(b *testing.B) {
	bench := newBench(b, func(_ *Config, d *Deps, j *crawl.Job) {
		d.Jars, d.OwnJars, j.Seeds = &memJars{}, true, []string{"http://a.test/"}
	})
	u := parse(b, "http://a.test/x")
	b.ReportAllocs()
	for b.Loop() {
		if h, err := bench.h.personal(b.Context(), &bench.job, u, true); h != nil || err != nil {
			b.Fatal(h, err)
		}
		if _, err := bench.h.keepCookies(b.Context(), &bench.job, u, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Without seeds in the job, as where a list has them, a rule without a site is nobody's: it must not become
// everybody's.
func TestSecretsWithoutSeedsGoToNobody(t *testing.T) {
	t.Setenv("IDENTITY_SECRET", "geheim")
	job := crawl.DefaultJob()
	job.SeedList = "list.txt"
	job.Headers = []crawl.HeaderRule{{Name: "X-Token", Value: "${IDENTITY_SECRET}"}}
	job.Auth = []crawl.AuthRule{{Bearer: "${IDENTITY_SECRET}"}}
	id, err := newIdentity(&job)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	id.header(h, parse(t, "https://stranger.test/"))
	if len(h) > 0 {
		t.Errorf("a stranger gets %v", h)
	}
}

// A cookie without a name is a secret, too.
func TestValuesOfCookiesAreNotArchived(t *testing.T) {
	job := crawl.DefaultJob()
	job.Auth = []crawl.AuthRule{{User: "ada", Password: "x"}}
	h := http.Header{"Set-Cookie": {"a=secret; Path=/", "secret; Path=/", "=secret"}}
	newBench(t, nil).h.redact(&job, http.Header{}, h)
	want := []string{"a=redacted; Path=/", "=redacted; Path=/", "=redacted;"}
	if got := h["Set-Cookie"]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
