package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Hosts that are bad for a crawl, by what they do with it.
const (
	silentHosts = 500 // they accept connections and say nothing
	slowHosts   = 100 // they send an octet a second
	deadHosts   = 100 // they refuse connections
)

// badHosts are the URLs of so many hosts of each kind.
func badHosts(t *testing.T) (urls []string) {
	t.Helper()
	silent, slow, dead := silentPort(t), drippingPort(t), deadPort(t)
	for name, kind := range map[string]struct {
		n    int
		port string
	}{"silent": {silentHosts, silent}, "slow": {slowHosts, slow}, "dead": {deadHosts, dead}} {
		for i := range kind.n {
			urls = append(urls, fmt.Sprintf("http://h%d.%s%d.test:%s/", i, name, i, kind.port))
		}
	}
	return urls
}

func deadPort(t *testing.T) string {
	t.Helper()
	port, _ := reservePort(t)
	return port
}

// drippingPort is a server that answers at once, and then sends an octet a second for as long as somebody reads.
func drippingPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var conns sync.WaitGroup
	t.Cleanup(func() {
		close(ended)
		_ = l.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { drip(c, ended) })
		}
	})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func drip(c net.Conn, ended <-chan struct{}) {
	defer c.Close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	_, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n"))
	for err == nil {
		select {
		case <-ended:
			return
		case <-tick.C:
			_, err = c.Write([]byte("x"))
		}
	}
}

// crowded is a web of good hosts beside bad ones, which are all found first: the door's page leads to them, and after
// three more pages to the good hosts.
func crowded(t *testing.T, good int, bad []string) *village {
	return newVillage(t, func(v *village, w http.ResponseWriter, host, path string) {
		if host != "door.test" || path == "/robots.txt" {
			longSite(w, path, 100)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		var links []string
		switch n, _ := strconv.Atoi(strings.TrimPrefix(path, "/")); {
		case n == 0:
			links = append(append(links, bad...), v.url(host, "/1"))
		case n < 3:
			links = append(links, v.url(host, fmt.Sprintf("/%d", n+1)))
		case n == 3:
			for i := range good {
				links = append(links, v.url(fmt.Sprintf("www.good%d.test", i), "/"))
			}
		}
		for _, link := range links {
			fmt.Fprintf(w, "<a href=%s>x</a>\n", link)
		}
	})
}

// Hosts that answer keep their pace beside 700 that do not, and what these cost in memory is bounded. A machine that
// has no time for either crawl says nothing about their pace, so there are three tries; a crawler that lets silent
// hosts hold the places of others misses the pace in each. The CPU time of 700 hosts, work at most, is the second
// crawl's alone, and the slower the machine is, the longer it takes.
func TestSilentHostsDoNotSlowTheOthers(t *testing.T) {
	long(t)
	const good, each, pace, memory, tries, work = 20, 24, 0.87, 64 << 20, 3, 300 * time.Millisecond
	for try := 1; ; try++ {
		alone, beside := paces(t, good, each)
		t.Logf("%d requests to each of %d hosts: %v and %d MB alone, %v and %d MB beside 700 that do not answer", each, good,
			alone.took, alone.peak>>20, beside.took, beside.peak>>20)
		if beside.peak > alone.peak+memory {
			t.Errorf("the bad hosts cost %d MB, want %d at most", (beside.peak-alone.peak)>>20, memory>>20)
		}
		dearer := harness.Paced(harness.Slowness(t)-1, work)
		if float64(alone.took) >= pace*float64(beside.took-dearer) {
			return
		}
		if try == tries {
			t.Fatalf("the good hosts took %v beside bad ones and %v alone", beside.took, alone.took)
		}
	}
}

// paced is how long a crawl took for the good hosts, and the most memory that it held, in bytes.
type paced struct {
	took time.Duration
	peak int64
}

// paces crawls good hosts alone and beside bad ones, at the same time: so a loaded machine slows both.
func paces(t *testing.T, good, each int) (alone, beside paced) {
	var ends [2]paced
	var wg sync.WaitGroup
	for i, bad := range [][]string{nil, badHosts(t)} {
		v := crowded(t, good, bad)
		job := fairJob(500*time.Millisecond, v.url("door.test", "/"))
		job.Scope = crawl.ScopeAny
		p := crawlerOf(t, v.names(t), job, "--concurrency", "256").start(t)
		wg.Go(func() {
			ends[i].took = v.whenAsked(p, "www.good", good, each).Sub(p.began)
			ends[i].peak = highest(p)
			_ = p.cmd.Process.Kill()
			<-p.ended
		})
	}
	wg.Wait()
	return ends[0], ends[1]
}

// whenAsked waits until each of so many hosts whose names begin so was asked often enough, and tells when; or when the
// crawl or the patience was over.
func (v *village) whenAsked(p *life, prefix string, hosts, times int) time.Time {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		asked, enough := map[string]int{}, 0
		for _, c := range v.calls() {
			if asked[c.host]++; asked[c.host] == times && strings.HasPrefix(c.host, prefix) {
				enough++
			}
			if enough == hosts {
				return c.at
			}
		}
		select {
		case <-p.ended:
			return time.Now()
		case now := <-tick.C:
			if now.Sub(p.began) > patience {
				return now
			}
		}
	}
}

// highest is the most memory that a process held so far, in bytes; 0 where the system does not tell.
func highest(p *life) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if m := highWater.FindSubmatch(status); err == nil && m != nil {
		kib, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
		return kib << 10
	}
	return 0
}
