package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// wideSite is a site of many hosts, all of this machine, whose pages are about 30 KB and have forty links, like
// those of the benchmarks.
type wideSite struct {
	pages, hosts int
	port         string
	served       atomic.Int64
}

const pageLinks = 40

func newWideSite(t *testing.T, pages, hosts int) *wideSite {
	s := &wideSite{pages: pages, hosts: hosts}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	harness.Check(t, err)
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return s
}

func (s *wideSite) url(n int) string {
	return fmt.Sprintf("http://127.0.1.%d:%s/%d", 1+n%s.hosts, s.port, n)
}

// ServeHTTP implements http.Handler.
func (s *wideSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || n >= s.pages {
		http.NotFound(w, r)
		return
	}
	s.served.Add(1)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>page %d</title>", n)
	for i := range pageLinks {
		fmt.Fprintf(w, `<p>%s <a href=%q>link</a>`, strings.Repeat(fmt.Sprintf("word%d ", n*31+i), 70),
			s.url((n*pageLinks+i+1)%s.pages))
	}
}

// reach waits until so many pages were asked for.
func (s *wideSite) reach(t *testing.T, n int) {
	t.Helper()
	harness.Until(t, patience, fmt.Sprintf("%d pages are served", n), func() bool { return s.served.Load() >= int64(n) })
}

// cpuNamed is the CPU time of all processes of this machine whose names begin so.
func cpuNamed(t *testing.T, heads ...string) (sum time.Duration) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	harness.Check(t, err)
	for _, file := range files {
		name, err := os.ReadFile(file)
		if err != nil || !slices.ContainsFunc(heads, func(head string) bool {
			return strings.HasPrefix(string(name),
				head)
		}) {
			continue // it has ended, or is another
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err == nil {
				sum += cpuOf(t, pid)
			}
		}
	}
	return sum
}

// openLive does what an open page Live does, until the function that it returns is called.
func openLive(t *testing.T, c *client.Client, id crawl.JobID) (stop func() (asked int64)) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var asked atomic.Int64
	wg.Go(func() {
		_ = c.Stream(ctx, []string{"execution:" + string(id), "workflows"}, func(client.StreamEvent) error { return nil })
	})
	x := "/executions/" + string(id)
	for path, every := range map[string]time.Duration{x: 2 * time.Second, x + "/status": 2 * time.Second, x +
		"/series": 2 * time.Second,
		x + "/whirl": 3 * time.Second, x + "/hosts?sort=-queued&limit=200": 3 * time.Second, "/alerts": 10 * time.Second,
		"/logs?source=crawl&limit=12&execution=" + url.QueryEscape(string(id)): 1500 * time.Millisecond} {
		wg.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for ctx.Err() == nil {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Server()+"/api/v1"+path, http.NoBody)
				if err != nil {
					return
				}
				req.Header.Set("Authorization", "Bearer "+adminKey)
				if resp, err := http.DefaultClient.Do(req); err == nil {
					if asked.Add(1); resp.StatusCode != http.StatusOK {
						t.Errorf("%s: %s", path, resp.Status)
					}
					_ = resp.Body.Close()
				}
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	return func() int64 { cancel(); wg.Wait(); return asked.Load() }
}

// part is what was measured of the middle of a crawl.
type part struct {
	rate      float64 // pages a second
	node, api float64 // CPU ms a page
	services  []float64
	asked     int64
}

func (p part) all() float64 {
	sum := p.node + p.api
	for _, s := range p.services {
		sum += s
	}
	return sum
}

// serviceNames are how the names of the services' processes begin: the broker, PostgreSQL, MongoDB or its stand-in,
// memcached.
var serviceNames = []string{"beam.smp", "postgres", "ferretdb", "mongod", "memcached"}

// cpuOfServices is the CPU time of each service.
func cpuOfServices(t *testing.T) (all []time.Duration) {
	for _, name := range serviceNames {
		all = append(all, cpuNamed(t, name))
	}
	return all
}

// Parts of a crawl, in pages.
const (
	speedLead = 500   // after which a part is measured, when the API has come or gone
	speedPart = 2_500 // that are measured
)

// A crawl with the API, an open studio and alerts, and without, in turn: with, without, without, with, and so on, so
// that what grows with the crawl is the same for both. The API is stopped (SIGSTOP) meanwhile, and has to make up for
// it afterwards. WHIRLPOOL_TEST_PAIRS says how many pairs of parts are measured, an even number; without it nothing is.
func TestSpeedWithTheAPI(t *testing.T) {
	pairs, _ := strconv.Atoi(os.Getenv("WHIRLPOOL_TEST_PAIRS"))
	if pairs < 1 {
		t.Skip("WHIRLPOOL_TEST_PAIRS says how many pairs of parts of a crawl are measured")
	}
	if pairs%2 != 0 {
		t.Fatal("WHIRLPOOL_TEST_PAIRS is odd: one order of with and without would come more often")
	}
	w := newWorld(t)
	node := w.start("node", "whirlpool", []string{"node"}, nil)
	copied, c := w.copyOf("one")
	s := newWideSite(t, (2*pairs+4)*(speedLead+speedPart), 60)
	_, err := c.CreateWorkflow(t.Context(), api.NewWorkflow{Slug: "speed",
		Source: fmt.Sprintf("id: speed\nseeds: [%q]\nmax_pages: 0\nscope: any\nmax_depth: -1\nallow_private: true\n"+
			"ignore_robots: true\nsitemaps: false\npoliteness: {delay: 0s, ip_delay: 0s, download_factor: 0, "+
			"host_connections: 16}\n", s.url(0))})
	harness.Check(t, err)
	for _, on := range []string{"failed", "partial", "slot", "stalled", "dead-letters", "failures", "blocked",
		"host-blocked", "disk"} {
		harness.Check(t, c.SetAlertRule(t.Context(), workflow.AlertRule{Name: on, On: on}))
	}
	x, err := c.Run(t.Context(), "speed", workflow.Overrides{})
	harness.Check(t, err)
	s.reach(t, 2*speedPart) // what is done for the first time is not measured
	measure := func(with bool) (p part) {
		stop := func() int64 { return 0 }
		if with {
			harness.Check(t, syscall.Kill(copied.PID(), syscall.SIGCONT))
			stop = openLive(t, c, x.ID)
		}
		s.reach(t, int(s.served.Load())+speedLead)
		from, began := s.served.Load(), time.Now()
		node0, api0, services0 := cpuOf(t, node.PID()), cpuOf(t, copied.PID()), cpuOfServices(t)
		s.reach(t, int(from)+speedPart)
		n, took := float64(s.served.Load()-from), time.Since(began)
		each := func(d time.Duration) float64 { return d.Seconds() * 1000 / n }
		p = part{rate: n / took.Seconds(), node: each(cpuOf(t, node.PID()) - node0), api: each(cpuOf(t, copied.PID()) - api0)}
		for i, after := range cpuOfServices(t) {
			p.services = append(p.services, each(after-services0[i]))
		}
		if p.asked = stop(); with {
			harness.Check(t, syscall.Kill(copied.PID(), syscall.SIGSTOP))
		}
		return p
	}
	harness.Check(t, syscall.Kill(copied.PID(), syscall.SIGSTOP))
	rates, cpus := 1.0, 1.0
	for i := range pairs {
		var pair [2]part
		for k := range pair {
			with := (k + i + 1) % 2
			pair[with] = measure(with == 1)
		}
		rate, cpu := pair[1].rate/pair[0].rate, pair[1].all()/pair[0].all()
		t.Logf("pair %d: pages/s %.0f, with %.0f (× %.3f); CPU ms/page node %.2f, %.2f; services %v %.2f, %.2f; api %.3f; "+
			"all × %.3f; %d requests",
			i+1, pair[0].rate, pair[1].rate, rate, pair[0].node, pair[1].node, serviceNames, pair[0].services, pair[1].services,
			pair[1].api, cpu, pair[1].asked)
		rates, cpus = rates*rate, cpus*cpu
	}
	root := 1 / float64(pairs)
	t.Logf("%d pairs: pages a second × %.3f, CPU time a page × %.3f (geometric means)", pairs, math.Pow(rates, root),
		math.Pow(cpus, root))
	harness.Check(t, syscall.Kill(copied.PID(), syscall.SIGCONT))
	harness.Until(t, 2*patience, "it ends", func() bool {
		now, err := c.Execution(t.Context(), x.ID)
		harness.Check(t, err)
		return now.State.Ended()
	})
}
