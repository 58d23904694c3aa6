package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// village is any number of hosts on one port, and the log of what they were asked.
type village struct {
	port string
	mu   sync.Mutex
	log  []call
}

type call struct {
	at         time.Time
	host, path string
}

// newVillage serves hosts by answer, which gets the host's name without the port.
func newVillage(t *testing.T, answer func(v *village, w http.ResponseWriter, host, path string)) *village {
	t.Helper()
	v := &village{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		v.mu.Lock()
		v.log = append(v.log, call{time.Now(), host, r.URL.Path})
		v.mu.Unlock()
		answer(v, w, host, r.URL.Path)
	}))
	_, v.port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	srv.Start()
	t.Cleanup(srv.Close)
	return v
}

func (v *village) url(host, path string) string { return "http://" + host + ":" + v.port + path }

// visits are the requests that want is true of, in the order of their times.
func (v *village) visits(want func(call) bool) (out []call) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, x := range v.log {
		if want(x) {
			out = append(out, x)
		}
	}
	return out
}

func (v *village) calls() []call { return v.visits(func(call) bool { return true }) }

func (v *village) names(t *testing.T) string {
	return nameServer(t, map[string]string{".test.": "127.0.0.1", ".example.": "127.0.0.1"}, "")
}

// longSite is a site of n pages, all of which its home page links to, without a robots.txt.
func longSite(w http.ResponseWriter, path string, n int) {
	if path == "/robots.txt" || path == "/sitemap.xml" {
		http.Error(w, "none", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title><p>This is %s and nothing else.", path, path)
	for i := range n {
		fmt.Fprintf(w, "<a href=/p%d>%d</a>\n", i, i)
	}
}

func fairJob(delay time.Duration, seeds ...string) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.MaxPages, job.NearDuplicate = "fair", seeds, 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), 0
	return &job
}

// silentPort is a server that accepts connections and never says anything.
func silentPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		var held []net.Conn // a connection that nobody holds would be closed
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range held {
					_ = c.Close()
				}
				return
			}
			held = append(held, c)
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// A domain gets its share of a page budget and no more, however many hosts it makes up.
func TestADomainDoesNotTakeTheCrawl(t *testing.T) {
	long(t)
	const good = 20
	v := newVillage(t, func(v *village, w http.ResponseWriter, host, path string) {
		if !strings.HasSuffix(host, ".trap.test") || path == "/robots.txt" {
			longSite(w, path, 200)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s%s</title><p>Page of %s%s.", host, path, host, path)
		for i := range 75 {
			to := (len(host)*31 + i*7 + len(path)*len(host) + int(host[1])*i) % 1500
			fmt.Fprintf(w, "<a href=%s>x</a>\n", v.url(fmt.Sprintf("n%d.trap.test", to), fmt.Sprintf("/%s%d", host[:2], i)))
		}
	})
	seeds := []string{v.url("n0.trap.test", "/")}
	for i := range good {
		seeds = append(seeds, v.url(fmt.Sprintf("h.good%d.test", i), "/"))
	}
	for i := range 400 {
		seeds = append(seeds, v.url(fmt.Sprintf("n%d.trap.test", i+1), "/"))
	}
	job := fairJob(100*time.Millisecond, seeds...)
	job.Scope, job.MaxPages = crawl.ScopeAny, 1500
	c := crawlerOf(t, v.names(t), job, "--concurrency", "256")
	c.start(t).wait(t)
	trap, all := 0, 0
	for u := range readResults(t, c.dir).Pages {
		if all++; strings.Contains(u, ".trap.test") {
			trap++
		}
	}
	t.Logf("%d of %d pages are of one domain, the others of %d", trap, all, good)
	if all != 1500 || trap > all*6/10 {
		t.Errorf("%d of %d pages are of one domain beside %d others", trap, all, good)
	}
}

// Sitemaps without end are bounded by the page budget, and they lead to no strangers.
func TestSitemapsAreBoundedAndLeadToNoStrangers(t *testing.T) {
	long(t)
	v := newVillage(t, func(v *village, w http.ResponseWriter, host, path string) {
		switch {
		case path == "/robots.txt" && host == "a.test":
			fmt.Fprintf(w, "Sitemap: %s\n", v.url(host, "/sitemap.xml"))
			for i := range 200 {
				fmt.Fprintf(w, "Sitemap: %s\n", v.url(fmt.Sprintf("www.stranger%d.test", i), "/map.xml"))
			}
		case strings.HasSuffix(path, ".xml"):
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
			for i := range 50 {
				fmt.Fprintf(w, "<sitemap><loc>%s</loc></sitemap>",
					v.url(host, fmt.Sprintf("%s-%d.xml", strings.TrimSuffix(path, ".xml"), i)))
			}
			fmt.Fprint(w, "</sitemapindex>")
		default:
			longSite(w, path, 100)
		}
	})
	job := fairJob(0, v.url("a.test", "/"))
	job.MaxPages = 20
	crawlerOf(t, v.names(t), job).start(t).wait(t)
	sitemaps := v.visits(func(x call) bool { return strings.HasSuffix(x.path, ".xml") })
	if len(sitemaps) > 30 {
		t.Errorf("%d sitemaps were asked for, with 20 pages to be had", len(sitemaps))
	}
	strangers := map[string]bool{}
	for _, x := range v.visits(func(x call) bool { return x.host != "a.test" }) {
		strangers[x.host] = true
		if x.path == "/sitemap.xml" {
			t.Errorf("%s was asked for a sitemap that nobody named", x.host)
		}
	}
	if len(strangers) > 3 {
		t.Errorf("%d strangers were asked", len(strangers))
	}
	t.Logf("%d sitemaps, %d strangers", len(sitemaps), len(strangers))
}

// A network that is down at the start costs nobody anything: the crawl waits and goes on by itself.
func TestAnOutageIsWaitedFor(t *testing.T) {
	long(t)
	port, open := reservePort(t)
	var seeds []string
	for i := range 8 {
		seeds = append(seeds, fmt.Sprintf("http://www.site%d.test:%s/", i, port))
	}
	job := fairJob(0, seeds...)
	job.Retry.Max, job.Retry.Base = 2, crawl.Duration(2*time.Second)
	c := crawlerOf(t, nameServer(t, map[string]string{".test.": "127.0.0.1"}, ""), job)
	c.args = slices.DeleteFunc(c.args, func(a string) bool { return a == "--quiet" })
	p := c.start(t)
	select {
	case <-p.ended:
		t.Fatalf("the crawl ended while nobody could be reached: %v\n%s", p.err, p.out.String())
	case <-time.After(25 * time.Second): // it would give up after 6
	}
	back := open()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		longSite(w, r.URL.Path, 10)
	})}
	go func() { _ = srv.Serve(back) }()
	t.Cleanup(func() { _ = srv.Close() })
	p.wait(t)
	if got := len(readResults(t, c.dir).Pages); got != 88 {
		t.Errorf("%d pages, want 88", got)
	}
	if !strings.Contains(p.out.String(), "no host can be reached") {
		t.Errorf("nothing was said of the outage:\n%s", p.out.String())
	}
}

// A process that may open few files fails no URL.
func TestFewOpenFilesFailNoURL(t *testing.T) {
	long(t)
	v := newVillage(t, func(_ *village, w http.ResponseWriter, _, path string) {
		time.Sleep(20 * time.Millisecond) // so that requests are under way together
		longSite(w, path, 5)
	})
	var seeds []string
	for i := range 150 {
		seeds = append(seeds, v.url(fmt.Sprintf("www.site%d.test", i), "/"))
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set the limit with")
	}
	for _, files := range []int{100, 200} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			c := crawlerOf(t, v.names(t), fairJob(0, seeds...), "--concurrency", "256")
			c.args = append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, files), c.exe}, c.args...)
			c.exe = shell
			p := c.start(t)
			p.wait(t)
			got := readResults(t, c.dir)
			if len(got.Pages) != 150*6 {
				log, _ := os.ReadFile(c.dir + "/crawl.log")
				t.Errorf("%d pages, want %d\n%s\n%s", len(got.Pages), 150*6, p.out.String(), log[:min(len(log), 3000)])
			}
		})
	}
}
