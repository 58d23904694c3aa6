package node_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// site is a web site by path: "301 /x" redirects, "206 …" and the like answer with that status, what starts with
// "<?xml" is XML, anything else is HTML.
type site map[string]string

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, ok := s[r.URL.RequestURI()]
	var status int
	if n, _ := fmt.Sscanf(text, "%d ", &status); n == 1 && status >= 200 {
		text = text[len("200 "):]
	} else {
		status = http.StatusOK
	}
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case status/100 == 3:
		w.Header().Set("Location", text)
		w.Header().Set("Set-Cookie", "seen=1")
		text = ""
	case strings.HasPrefix(text, "<?xml"):
		w.Header().Set("Content-Type", "application/xml")
	case strings.HasSuffix(r.URL.Path, ".txt"):
		w.Header().Set("Content-Type", "text/plain")
	default:
		w.Header().Set("Content-Type", "text/html")
	}
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// crawlSite crawls a site into a directory and returns it with the site's address.
func crawlSite(t *testing.T, s http.Handler, seeds []string, mod func(*crawl.Job)) (dir, base string) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	job := crawl.DefaultJob()
	job.ID, job.Politeness.Delay, job.Sitemaps = "test", 0, false
	for _, path := range seeds {
		job.Seeds = append(job.Seeds, srv.URL+path)
	}
	if mod != nil {
		mod(&job)
	}
	dir = t.TempDir()
	opt := node.DefaultLocal(dir, &job,
		slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	opt.Node.Fetch.AllowPrivate, opt.Bus.Encode = true, true
	crawlAll(t, opt)
	return dir, srv.URL
}

// told are the outcomes of paths, as "verdict reason status"; URLs of other sites keep their names.
func told(t *testing.T, dir, base string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for url, l := range outcomesIn(t, dir) {
		if l.Kind != crawl.KindRobots {
			out[strings.TrimPrefix(url, base)] = strings.Join(strings.Fields(fmt.Sprint(l.Verdict, " ", l.Reason, " ",
				l.Status)), " ")
		}
	}
	return out
}

func wantTold(t *testing.T, got, want map[string]string) {
	t.Helper()
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s: %q, want %q", path, got[path], w)
		}
	}
}

func links(paths ...string) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "<a href='%s'>x</a>", p)
	}
	return b.String()
}

// Redirects that lead back to where they began fail, each of them, however they were found.
func TestLoopsOfRedirectsFail(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	t.Parallel()
	dir, base := crawlSite(t, site{
		"/":     links("/self", "/sid", "/one", "/to", "/fro", "/hash", "/tail", "/fine", "/chain"),
		"/self": "302 /self", "/hash": "301 #x", "/sid": "302 /sid?PHPSESSID=0123456789abcdef0123456789abcdef",
		"/one": "301 /two", "/two": "302 /three", "/three": "307 /one",
		"/to": "302 /fro", "/fro": "308 /to",
		"/tail": "302 /to", "/fine": "301 /page", "/page": "hello", "/chain": "301 /fine",
	}, []string{"/"}, nil)
	const loop = "failed redirect-loop "
	got := told(t, dir, base)
	wantTold(t, got, map[string]string{"/self": loop + "302", "/hash": loop + "301", "/sid": loop + "302",
		"/one": loop + "301", "/two": loop + "302", "/three": loop + "307", "/to": loop + "302", "/fro": loop + "308",
		"/tail": "done 302", "/fine": "done 301", "/page": "done 200", "/chain": "done 301"})
	for path, l := range outcomesIn(t, dir) {
		if l.Reason == crawl.ReasonRedirectLoop && (l.Detail == "" || l.Location.IsZero() || l.Referrer.IsZero()) {
			t.Errorf("%s: %+v says too little", path, l)
		}
	}
}

// Pages that lead by a page of consent, or by another host, until a cookie is there are fetched; one that nothing can
// satisfy is asked once more, and is a loop like others.
func TestRedirectsThatEndWithACookieAreFollowed(t *testing.T) {
	var asked atomic.Int64
	gate := func(w http.ResponseWriter, r *http.Request) {
		path, next := r.URL.Path, r.URL.Query().Get("next")
		_, err := r.Cookie("consent")
		switch w.Header().Set("Content-Type", "text/html"); {
		case path == "/":
			fmt.Fprint(w, links("/open", "/never"))
		case path == "/never":
			asked.Add(1)
			http.Redirect(w, r, "/check", http.StatusFound)
		case path == "/check":
			http.Redirect(w, r, "/never", http.StatusFound)
		case path == "/consent":
			http.Redirect(w, r, "/agreed?next="+next, http.StatusFound)
		case path == "/agreed":
			http.SetCookie(w, &http.Cookie{Name: "consent", Value: "1", Path: "/"})
			http.Redirect(w, r, next, http.StatusSeeOther)
		case path == "/open" && err != nil:
			http.Redirect(w, r, "/consent?next=/open", http.StatusFound)
		case path == "/open":
			fmt.Fprint(w, "<title>Open</title>", links("/deeper"))
		case path == "/deeper":
			fmt.Fprint(w, "<title>Deeper</title>")
		default:
			http.NotFound(w, r)
		}
	}
	for i, seeds := range [][]string{{"/"}, {"/open", "/never"}} {
		asked.Store(0)
		dir, base := crawlSite(t, http.HandlerFunc(gate), seeds, nil)
		wantTold(t, told(t, dir, base), map[string]string{"/open": "done 200", "/deeper": "done 200",
			"/consent?next=/open": "done 302", "/agreed?next=/open": "done cookie 303",
			"/never": "failed redirect-loop 302", "/check": "failed redirect-loop 302"})
		if pages := len(pagesIn(t, dir)); pages != 3-i || asked.Load() > 2 {
			t.Errorf("%d pages, %d requests of the loop", pages, asked.Load())
		}
	}
}

// A part of a page that nobody asked for is no page, and a part of a robots.txt no rules.
func TestAnUnaskedPartIsNoPage(t *testing.T) {
	s := site{"/": links("/part"), "/part": "206 half a page " + links("/never")}
	dir, base := crawlSite(t, s, []string{"/"}, nil)
	wantTold(t, told(t, dir, base), map[string]string{"/part": "refused broken-answer 206", "/never": ""})
	if pages := pagesIn(t, dir); len(pages) != 1 {
		t.Errorf("%d pages, want 1", len(pages))
	}
	s["/robots.txt"] = "206 User-agent: *\n"
	dir, base = crawlSite(t, s, []string{"/"}, func(j *crawl.Job) { j.Retry.Max = 0 })
	wantTold(t, told(t, dir, base), map[string]string{"/": "blocked robots-unavailable 0"})
}

// Links of other schemes have one line each in crawl.log.
func TestLinksOfOtherSchemesAreLogged(t *testing.T) {
	foreign := []string{"mailto:a@b.test", "javascript:void(0)", "tel:+49-1", "ftp://h.test/x"}
	dir, base := crawlSite(t, site{"/": links(append(foreign, "/a", "/b", "http://[bad")...), "/a": links(foreign...),
		"/b": links("MAILTO:a@b.test")},
		[]string{"/"}, nil)
	got := told(t, dir, base)
	count := map[string]int{}
	for _, line := range lines(t, filepath.Join(dir, "crawl.log")) {
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			t.Fatal(err)
		}
		count[l.URL.String()]++
	}
	for _, u := range foreign {
		if got[u] != "excluded scheme 0" || count[u] != 1 {
			t.Errorf("%s: %q, %d lines", u, got[u], count[u])
		}
	}
}

// The pages of a sitemap or feed that is a seed are crawled, whatever its name is and whether or not the site's own
// sitemaps are read.
func TestSitemapsAsSeeds(t *testing.T) {
	s := site{"/1": "one", "/2": "two", "/3": "three"}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	list := func(paths ...string) string {
		out := "<?xml version='1.0'?><urlset>"
		for _, p := range paths {
			out += "<url><loc>" + srv.URL + p + "</loc></url>"
		}
		return out + "</urlset>"
	}
	s["/sitemap.xml"], s["/list"], s["/sitemap.txt"] = list("/1", "/2"), list("/1", "/2"), srv.URL+"/1\n"+srv.URL+"/2\n"
	s["/index.xml"] = "<?xml version='1.0'?><sitemapindex><sitemap><loc>" + srv.URL +
		"/sitemap.xml</loc></sitemap></sitemapindex>"
	s["/feed"] = "<?xml version='1.0'?><rss><channel><item><link>" + srv.URL + "/1</link></item><item><link>" + srv.URL +
		"/2</link></item></channel></rss>"
	for _, seed := range []string{"/sitemap.xml", "/index.xml", "/list", "/feed", "/sitemap.txt"} {
		t.Run(seed, func(t *testing.T) {
			dir, _ := crawlSite(t, s, []string{seed}, func(j *crawl.Job) { j.Seeds = []string{srv.URL + seed} })
			got := told(t, dir, srv.URL)
			wantTold(t, got, map[string]string{seed: "done 200", "/1": "done 200", "/2": "done 200", "/3": ""})
			pages := pagesIn(t, dir)
			for _, p := range []string{"/1", "/2"} {
				if pages[srv.URL+p] == nil {
					t.Errorf("%s has no record", p)
				}
			}
			if named := slices.Contains([]string{"/sitemap.xml", "/index.xml", "/sitemap.txt"}, seed); named && len(pages) != 2 {
				t.Errorf("%d records, want 2", len(pages))
			}
		})
	}
}
