package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// jobLog is which job asked, request by request: each has a User-Agent of its own.
type jobLog struct {
	mu    sync.Mutex
	asked []string
	last  map[string]time.Time
}

func (l *jobLog) add(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.last[agent] = append(l.asked, agent), time.Now()
}

func (l *jobLog) lastOf(agent string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[agent]
}

func (l *jobLog) since(from int) (asked []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(asked, l.asked[from:]...)
}

// A small job that comes later shares its host evenly with a large one, and its end is announced beside that.
func TestTwoJobsOnOneHostShareIt(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster")
	}
	c, slowness := newCluster(t), harness.Slowness(t)
	log := &jobLog{last: map[string]time.Time{}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.add(r.UserAgent())
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><p>%s", r.URL, r.URL)
		links := map[string]int{"/large/": 3000, "/small/": 20}[r.URL.Path]
		for i := range links {
			fmt.Fprintf(w, "<a href=%d>x</a>\n", i)
		}
	}))
	defer srv.Close()
	c.startNode()
	seed := func(name string) {
		c.must("seed", "--cluster", "--job", name, "--scope", "prefix", "--delay", "250ms", "--ip-delay", "0",
			"--no-sitemaps", "--ignore-robots", "--near-duplicate=-1", "--user-agent", name, srv.URL+"/"+name+"/")
	}
	seed("large")
	poll(t, "requests of the large job", func() bool { return len(log.since(0)) >= 20 })
	seed("small")
	before := len(log.since(0))
	poll(t, "the end of the small job", func() bool {
		s := decode[report.Status](t, c.must("status", "--cluster", "--job", "small", "--json"))
		return s.State == report.StateFinished
	})
	ended := time.Since(log.lastOf("small"))
	asked := log.since(before)
	first, last := indexOf(asked, "small"), lastIndexOf(asked, "small")
	large := strings.Count(strings.Join(asked[first:last+1], " "), "large")
	t.Logf("small asked from request %d to %d, large %d times in between; the end was known %v later", first, last, large,
		ended)
	if small := 21; large > 2*small || large < small/2 {
		t.Errorf("while the small job asked %d times the large one asked %d times: want it even", small, large)
	}
	if ended > harness.Times(slowness, 20*time.Second) {
		t.Errorf("the end of the small job was announced %v after its last request", ended)
	}
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return 0
}

func lastIndexOf(list []string, s string) (last int) {
	for i, x := range list {
		if x == s {
			last = i
		}
	}
	return last
}
