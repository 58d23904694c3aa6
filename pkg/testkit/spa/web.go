package spa

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names are the applications; each lies on the host NAME.test.
var Names = []string{"react", "vue", "svelte", "angular", "lit", "vanilla"}

// Sizes of the web. An application has a home, a list, an about page (a lazy route), a feed that grows by one scroll,
// and items; all else is leaves.
const (
	Items     = 4 // of an application
	Posts     = 6 // of a page of its feed; it has two
	Sites     = 20
	SitePages = 15 // of a plain site
)

// mounts are what the applications are mounted at.
var mounts = map[string]string{"react": `<div id="root"></div>`, "vue": `<div id="app"></div>`,
	"svelte": `<div id="svelte"></div>`, "angular": `<app-root></app-root>`, "lit": `<shop-app></shop-app>`,
	"vanilla": `<main></main>`}

// Call is a request that the web got.
type Call struct {
	Host, Method, URI, Agent string
	Began, Ended             time.Time
}

// Web serves the applications and the plain sites. It notes each request.
type Web struct {
	Port    string // of the server, for the links of the plain sites
	scripts map[string]string
	dir     string

	mu  sync.Mutex
	log []Call
}

// New returns the web of the applications that Build has put into dir.
func New(dir string) (*Web, error) {
	w := &Web{dir: dir, scripts: map[string]string{}}
	for _, name := range Names {
		found, err := filepath.Glob(filepath.Join(dir, name, "assets", "index-*.js"))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("%s: %d programs of %s, want one", dir, len(found), name)
		}
		w.scripts[name] = "/assets/" + filepath.Base(found[0])
	}
	return w, nil
}

// Hosts are all hosts, those of the applications first.
func (w *Web) Hosts() (hosts []string) {
	for _, name := range Names {
		hosts = append(hosts, name+".test")
	}
	for i := range Sites {
		hosts = append(hosts, fmt.Sprintf("plain%02d.test", i))
	}
	return hosts
}

// Seeds are the home pages of all hosts.
func (w *Web) Seeds() (seeds []string) {
	for _, host := range w.Hosts() {
		seeds = append(seeds, w.url(host, "/"))
	}
	return seeds
}

func (w *Web) url(host, path string) string { return "http://" + net.JoinHostPort(host, w.Port) + path }

// Links are the URLs of an application that need no interaction but one scroll.
func (w *Web) Links(name string) (urls []string) {
	paths := []string{"/", "/list", "/about", "/feed", "/leaf/team", "/leaf/imprint"}
	for n := 1; n <= Items; n++ {
		paths = append(paths, fmt.Sprintf("/item/%d", n), fmt.Sprintf("/leaf/review-%d", n))
	}
	for n := 1; n <= 2*Posts; n++ {
		paths = append(paths, fmt.Sprintf("/leaf/post-%d", n))
	}
	for _, path := range paths {
		urls = append(urls, w.url(name+".test", path))
	}
	return urls
}

// Log returns the requests so far, in the order of their beginnings.
func (w *Web) Log() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := slices.Clone(w.log)
	slices.SortFunc(log, func(a, b Call) int { return a.Began.Compare(b.Began) })
	return log
}

// ServeHTTP implements http.Handler.
func (w *Web) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	c := Call{Method: r.Method, URI: r.URL.RequestURI(), Agent: r.UserAgent(), Began: time.Now()}
	c.Host, _, _ = net.SplitHostPort(r.Host)
	name := strings.TrimSuffix(c.Host, ".test")
	path := r.URL.Path
	switch {
	case path == "/robots.txt":
		fmt.Fprint(to, "User-agent: *\nDisallow: /private/\n")
	case strings.HasPrefix(name, "plain"):
		w.plain(to, name, path)
	case w.scripts[name] == "":
		http.NotFound(to, r)
	default:
		w.application(to, r, name)
	}
	c.Ended = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, c)
}

func (w *Web) application(to http.ResponseWriter, r *http.Request, name string) {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/assets/"):
		data, err := os.ReadFile(filepath.Join(w.dir, name, "assets", filepath.Base(path)))
		if err != nil {
			http.NotFound(to, r)
			return
		}
		to.Header().Set("Content-Type", "text/javascript")
		_, _ = to.Write(data)
	case strings.HasPrefix(path, "/api/"):
		data(to, r)
	case strings.HasPrefix(path, "/leaf/"):
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(to, "<!doctype html><title>%s</title><p>This is the end of %s at %s.</p>", path, path, name)
	default: // whatever the path, it is one program
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(to,
			`<!doctype html><html><head><title>%s</title><link rel="icon" href="/favicon.ico"></head><body>%s<script type="module" crossorigin src="%s"></script></body></html>`,
			name, mounts[name], w.scripts[name])
	}
}

// data answers the applications. It wants to be asked for JSON.
func data(to http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		http.Error(to, "this is for programs", http.StatusNotAcceptable)
		return
	}
	var answer any
	switch path := r.URL.Path; path {
	case "/api/items":
		answer = count(1, Items)
	case "/api/posts":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		answer = count((page-1)*Posts+1, Posts)
	default:
		n := strings.TrimPrefix(path, "/api/items/")
		answer = map[string]any{"title": "Item " + n, "pages": []string{"/leaf/review-" + n}}
	}
	to.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(to).Encode(answer) // the client may have gone
}

func count(from, n int) (list []int) {
	for i := range n {
		list = append(list, from+i)
	}
	return list
}

// plain answers for a site whose pages are whole. A third of the sites have no scripts, a third one for statistics, and
// a third scripts of their own that add nothing.
func (w *Web) plain(to http.ResponseWriter, name, path string) {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "plain"))
	if strings.HasSuffix(path, ".js") {
		to.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(to, `document.documentElement.classList.add("js"); addEventListener("scroll", () => 0)`)
		return
	}
	script := [...]string{"", `<script src="http://stats.test/count.js" async></script>`,
		`<script src="/js/site.js" defer></script>`}[n%3]
	to.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(to, "<!doctype html><title>%s%s</title>%s<h1>%s</h1>", name, path, script, path)
	for i := range 6 {
		fmt.Fprintf(to, "<p>Paragraph %d of the page %s of %s, with words that stand in the page itself and in no script "+
			"at all.</p>", i, path, name)
	}
	for i := range SitePages - 1 {
		fmt.Fprintf(to, `<a href="/p/%d">Page %d</a> `, i, i)
	}
}
