package experiment

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// DNS says what is asked of a name server that takes its time.
type DNS struct {
	Hosts    int           // their pages are asked for by Zipf's law: the i-th 1/i times as often as the first
	Requests int           // of each run
	AtOnce   int           // requests
	Delay    time.Duration // of the name server, in the median; log-normal, sigma 0.5
}

// Run makes the same requests with the cache of names and without.
func (d DNS) Run(ctx context.Context) ([]Table, error) {
	server, err := startNameServer(d.Delay)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "<p>page")
	}))
	defer page.Close()
	t := Table{
		Name: "dns", Label: "name look-ups",
		Title: fmt.Sprintf("DNS cache: %d requests for pages of %d hosts, name server %v", d.Requests, d.Hosts, d.Delay),
		Columns: []Column{{Name: "request, median", Unit: "ms", Digits: 1, Drawn: true},
			{Name: "request, p75", Unit: "ms", Digits: 1, Drawn: true},
			{Name: "request, p95", Unit: "ms", Digits: 1, Drawn: true}, {Name: "look-up, median", Unit: "ms", Digits: 3},
			{Name: "look-up, p75", Unit: "ms", Digits: 3}, {Name: "look-up, p95", Unit: "ms", Digits: 1},
			{Name: "name server asked"}},
	}
	for _, cached := range []bool{false, true} {
		run := dnsRun{DNS: d, page: page.Listener.Addr().String(), times: make([][2]time.Duration, d.Requests)}
		before := server.asked.Load()
		if err := run.all(ctx, server.address, cached); err != nil {
			return nil, err
		}
		label := "without the cache"
		if cached {
			label = "with the cache"
		}
		t.Add(label, append(run.quantiles(), float64(server.asked.Load()-before))...)
	}
	return []Table{t}, nil
}

type dnsRun struct {
	DNS
	page  string
	times [][2]time.Duration // of each request: its look-up, and all of it
}

// all makes the requests. Without the cache the same resolver is asked past its memory.
func (r *dnsRun) all(ctx context.Context, server string, cached bool) error {
	cfg := dnscache.Default()
	cfg.Server, cfg.HostsFile = server, ""
	var direct dnscache.Source
	cfg.Over = func(s dnscache.Source) dnscache.Source {
		direct = s
		return s
	}
	cache, err := dnscache.New(cfg, nil)
	if err != nil {
		return err
	}
	lookup := func(ctx context.Context, host string) (err error) {
		if cached {
			_, err = cache.Lookup(ctx, host)
		} else {
			_, _, err = direct.Resolve(ctx, host)
		}
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.AtOnce}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	hosts := r.hosts()
	for range r.AtOnce {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(r.Requests); i = next.Add(1) - 1 {
				if err := r.one(ctx, client, lookup, i, hosts[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (r *dnsRun) one(ctx context.Context, client *http.Client, lookup func(context.Context, string) error, i int64,
	host string) error {
	began := time.Now()
	if err := lookup(ctx, host); err != nil {
		return fmt.Errorf("look up %s: %w", host, err)
	}
	r.times[i][0] = time.Since(began)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.page+"/", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	r.times[i][1] = time.Since(began)
	return err
}

// hosts draws the host of each request, the same for each run.
func (r *dnsRun) hosts() []string {
	rnd := rand.New(rand.NewPCG(1, 0))
	sums, sum := make([]float64, r.Hosts), 0.0
	for i := range sums {
		sum += 1 / float64(i+1)
		sums[i] = sum
	}
	hosts := make([]string, r.Requests)
	for i := range hosts {
		x, at := rnd.Float64()*sum, 0
		for at < len(sums)-1 && sums[at] < x {
			at++
		}
		hosts[i] = fmt.Sprintf("host%d.test", at)
	}
	return hosts
}

func (r *dnsRun) quantiles() (v []float64) {
	for _, part := range []int{1, 0} {
		times := make([]time.Duration, len(r.times))
		for i := range times {
			times[i] = r.times[i][part]
		}
		for _, p := range []float64{.5, .75, .95} {
			v = append(v, quantile(times, p))
		}
	}
	return v
}

// nameServer answers every name with 127.0.0.1, after a while.
type nameServer struct {
	address string
	asked   atomic.Int64
	conn    net.PacketConn
	done    sync.WaitGroup
}
