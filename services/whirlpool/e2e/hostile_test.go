package e2e_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// hostileSuffix ends the names of the hostile hosts: one a case, so that each has its own connection and politeness.
const hostileSuffix = ".hostile.test"

// hostileWeb serves the cases of fakeweb.Hostile, each at a host of its own, an index page that links them all, and
// hosts whose robots.txt is such a case.
type hostileWeb struct {
	cases  *fakeweb.Hostile
	port   string
	robots map[string]string // host name: the case that its robots.txt is
}

func serveHostile(t *testing.T, slowness float64) *hostileWeb {
	t.Helper()
	w := &hostileWeb{cases: fakeweb.NewHostile(harness.Times(slowness, 100*time.Millisecond)), robots: map[string]string{}}
	for _, path := range []string{"/bomb/gzip", "/bomb/zstd", "/endless/body", "/endless/headers", "/slow/never",
		"/broken/closed"} {
		w.robots["robots-"+hostLabel(path)+hostileSuffix] = path
	}
	for _, c := range w.cases.Cases() { // bombs are packed when they are first asked for, which takes seconds
		if strings.HasPrefix(c.Path, "/bomb/") {
			w.cases.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.Path, nil))
		}
	}
	srv := httptest.NewUnstartedServer(w)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about clients that leave
	srv.Start()
	t.Cleanup(srv.CloseClientConnections)
	t.Cleanup(func() { go srv.Close() }) // answers without end
	_, w.port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	return w
}

func hostLabel(path string) string {
	path, _, _ = strings.Cut(strings.Trim(path, "/"), "?")
	return strings.NewReplacer("/", "-", ".", "-").Replace(path)
}

func (w *hostileWeb) url(label, path string) string {
	return "http://" + label + hostileSuffix + ":" + w.port + path
}

// urls are all hostile URLs by what is wrong with them.
func (w *hostileWeb) urls() map[string]string {
	all := map[string]string{}
	for _, c := range w.cases.Cases() {
		all[c.Path] = w.url(hostLabel(c.Path), c.Path)
	}
	for host, path := range w.robots {
		all["robots.txt "+path] = "http://" + host + ":" + w.port + "/page"
	}
	return all
}

// ServeHTTP implements http.Handler.
func (w *hostileWeb) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	path, isRobots := w.robots[host]
	switch {
	case isRobots && r.URL.Path == "/robots.txt":
		r.URL.Path = path
		w.cases.ServeHTTP(rw, r)
	case isRobots:
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, "<title>%s</title>", host)
	case host == "index"+hostileSuffix && r.URL.Path == "/":
		rw.Header().Set("Content-Type", "text/html")
		for what, u := range w.urls() {
			fmt.Fprintf(rw, "<p><a href=%q>%s</a>\n", u, what)
		}
	default:
		w.cases.ServeHTTP(rw, r)
	}
}

func TestHostileServersDoNoHarm(t *testing.T) {
	long(t)
	const memory = 300 << 20
	slowness := min(harness.Slowness(t), 6) // all times of both sides grow alike
	good := serve(t, goodWeb(), 0)
	calm := runHostile(t, good, goodJob(good, slowness))
	hostile := serveHostile(t, slowness)
	job := goodJob(good, slowness)
	job.Seeds = append(job.Seeds, hostile.url("index", "/"))
	// No test leaves loopback (private_test.go is about these addresses), nor needs 60 missing pages of one host.
	job.Exclude = []string{`^http://(169\.254\.|\[::ffff:)`, `/l/\d\d`}
	got := runHostile(t, good, job)
	within(t, "the crawl with hostile hosts", got.peak, memory)
	if limit := calm.took + harness.Times(slowness, hostileTime); got.took > limit {
		t.Errorf("the crawl took %v with hostile hosts and %v without: want at most %v", got.took, calm.took, limit)
	}
	got.wantOutcomes(t, hostile)
	got.wantGoodPages(t, good.Web())
	pace := got.pace(t, calm)
	t.Logf("without hostile hosts %v, %d MB; with %d hostile URLs %v, %d MB, the others at %.0f %% of their pace",
		calm.took.Round(time.Millisecond), calm.peak>>20, len(hostile.urls()), got.took.Round(time.Millisecond), got.peak>>20,
		100*pace)
	if pace < leastPace {
		t.Errorf("well-behaved hosts were asked at %.0f %% of the rate that they had alone, want %.0f %%\n%v\n%v", 100*pace,
			100*leastPace, calm.rates, got.rates)
	}
}

// hostileTime bounds what hostile hosts may add to a crawl: each has two attempts of limits.total for its robots.txt
// and for its page, and ten redirects.
const hostileTime = time.Minute

// leastPace is how much of their rate others keep at least. Both crawls share the processors with their servers and
// with other tests here, which costs the second one more: alone on a machine it is 0.9 and above.
const leastPace = 0.6

// wantOutcomes checks that each hostile URL ended once, and as it should.
func (r *crawled) wantOutcomes(t *testing.T, w *hostileWeb) {
	t.Helper()
	for what, u := range w.urls() {
		finals := r.finals[u]
		if n := len(finals); n == 2 && finals[0].Verdict == crawl.VerdictDone &&
			finals[1].Reason == crawl.ReasonRedirectLoop {
			finals = finals[1:] // the first of a loop is known for one when the last has answered
		}
		if len(finals) != 1 {
			t.Errorf("%s: %d final outcomes, want one", what, len(finals))
			continue
		}
		l := finals[0]
		want, ok := hostileOutcomes[what]
		if got := (ending{l.Verdict, l.Reason, l.Status}); !ok || got != want {
			t.Errorf("%q: {crawl.Verdict%v, %q, %d}, want %v (%s)", what, got.verdict, got.reason, got.status, want, l.Detail)
		}
		if l.Bytes > int64(crawl.DefaultJob().Limits.MaxBody) {
			t.Errorf("%s: %d bytes were taken", what, l.Bytes)
		}
	}
}

// wantGoodPages checks that the crawl lost nothing of the other hosts.
func (r *crawled) wantGoodPages(t *testing.T, web *fakeweb.Web) {
	t.Helper()
	res := readResults(t, r.dir)
	for u := range res.Pages {
		if p, ok := web.Page(u); !ok || p.Host == "" {
			delete(res.Pages, u)
		}
	}
	harness.Report(t, "well-behaved hosts", res.Untrue(web))
	if a := audit(t, r.dir); len(a.Faults) > 0 || a.Open > 0 {
		t.Errorf("audit: %d open, faults %q", a.Open, a.Faults)
	}
}

// pace is the median part of its rate that a host kept.
func (r *crawled) pace(t *testing.T, calm crawled) float64 {
	t.Helper()
	var parts []float64
	for host, rate := range calm.rates {
		parts = append(parts, r.rates[host]/rate)
	}
	if len(parts) == 0 {
		t.Fatal("no host was asked")
	}
	slices.Sort(parts)
	return parts[len(parts)/2]
}

func goodWeb() fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.PagesZipf, cfg.PageBytes, cfg.CrawlDelay = 20, 300, 0, 8<<10, 0
	cfg.Unavailable, cfg.DeadHosts, cfg.NXHosts, cfg.TrapHosts = 0, 0, 0, 0
	return cfg
}

// goodJob crawls the well-behaved web with little patience for others. Its delay leaves the processors time.
func goodJob(srv *fakeweb.Server, slowness float64) *crawl.Job {
	job := jobFor(srv)
	ms := crawl.Duration(harness.Times(slowness, time.Millisecond))
	job.Politeness.Delay, job.Politeness.DownloadFactor = 400*ms, 0
	job.Retry.Max = 1
	l := &job.Limits
	l.Connect, l.FirstByte, l.Idle, l.Total, l.MinRateWindow = 3000*ms, 3000*ms, 2000*ms, 8000*ms, 2000*ms
	return job
}

// crawled is what a crawl left beside its pages.
type crawled struct {
	dir    string
	took   time.Duration
	peak   int64
	finals map[string][]*crawl.LogLine // final outcomes by URL, robots.txt files left out
	rates  map[string]float64          // requests a second of each well-behaved host, as its server saw them
}

func runHostile(t *testing.T, good *fakeweb.Server, job *crawl.Job) crawled {
	t.Helper()
	from := len(good.Log().Entries())
	c := newCrawler(t, good, job, "--dns",
		nameServer(t, map[string]string{hostileSuffix + ".": "127.0.0.1"}, good.DNSAddr()))
	p := c.start(t)
	r := crawled{dir: c.dir, peak: peakMemory(p)}
	p.wait(t)
	r.took = time.Since(p.began)
	r.finals = finalsIn(t, c.dir)
	r.rates = rates(good.Log().Entries()[from:])
	return r
}

func finalsIn(t *testing.T, dir string) map[string][]*crawl.LogLine {
	t.Helper()
	finals := map[string][]*crawl.LogLine{}
	eachLine(t, filepath.Join(dir, "crawl.log"), func(line []byte) error {
		l, err := jsonl.ParseLogLine(line)
		if err == nil && l.Verdict.Final() && l.Kind != crawl.KindRobots {
			finals[l.URL.String()] = append(finals[l.URL.String()], l)
		}
		return err
	})
	return finals
}

// rates are the requests a second of each host, from its first request to its last.
func rates(entries []fakeweb.Entry) map[string]float64 {
	first, last, n := map[string]int64{}, map[string]int64{}, map[string]int{}
	for _, e := range entries {
		if n[e.Host]++; n[e.Host] == 1 || e.Start < first[e.Host] {
			first[e.Host] = e.Start
		}
		last[e.Host] = max(last[e.Host], e.End)
	}
	out := map[string]float64{}
	for host := range n {
		out[host] = float64(n[host]) / time.Duration(last[host]-first[host]).Seconds()
	}
	return out
}
