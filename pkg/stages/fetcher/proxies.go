package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	// firstAside and longestAside bound for how long a proxy that failed is not asked; doubled with each failure.
	firstAside, longestAside = time.Second, 5 * time.Minute
	// proxyWait is how long a request waits for a proxy that is not busy.
	proxyWait = 30 * time.Second
	// blameSite is how long a proxy says that it cannot reach sites until the sites are believed to be out of reach.
	blameSite = 10 * time.Minute
	// maxSuspect answers of a proxy that cannot reach a site, with no other in between, put it aside.
	maxSuspect = 3
	// maxProxyTries is how many proxies one request tries, of those that cannot be reached.
	maxProxyTries = 3
	maxProxies    = 10_000
	maxPools      = 64
)

// proxy is one of a pool.
type proxy struct {
	url  *url.URL
	name string // without its password

	under    int       // requests
	used     time.Time // when the last began, or may begin
	aside    time.Time // it is not asked before
	failures int       // in a row
	proven   bool      // it brought an answer since it failed
	suspect  int       // answers, since then, of a proxy that cannot reach a site
	since    time.Time // of the first failure in a row
}

// pool is a list of proxies that take turns: the one that was not used for the longest is the next.
type pool struct {
	delay time.Duration
	most  int // requests at once through one; 0: no bound

	mu   sync.Mutex
	all  []*proxy
	free chan struct{} // closed when a proxy may be free
	last string        // what the last that failed said
}

func newPool(urls []*url.URL, delay time.Duration, most int) *pool {
	p := &pool{delay: delay, most: most, free: make(chan struct{})}
	for _, u := range urls {
		p.all = append(p.all, &proxy{url: u, name: u.Redacted()})
	}
	return p
}

// take returns the proxy whose turn it is, when it may be used. Give it back with done.
func (p *pool) take(ctx context.Context) (*proxy, error) {
	patience := time.NewTimer(proxyWait)
	defer patience.Stop()
	for {
		chosen, wait, err := p.choose(time.Now())
		if err != nil {
			return nil, err
		}
		free := p.freed()
		var slot <-chan time.Time
		if chosen != nil {
			if wait <= 0 {
				return chosen, nil
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			slot, free = timer.C, nil
		}
		select {
		case <-slot:
			return chosen, nil
		case <-free:
		case <-patience.C:
			if chosen != nil {
				p.done(chosen)
			}
			return nil, Fault{crawl.VerdictRetry, crawl.ReasonProxy,
				fmt.Sprintf("all %d proxies are busy; network.proxy_delay and "+
					"network.proxy_connections say how much they bear", len(p.all))}
		case <-ctx.Done():
			if chosen != nil {
				p.done(chosen)
			}
			return nil, context.Cause(ctx)
		}
	}
}

func (p *pool) freed() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.free
}

// choose reserves a proxy; nil: all that can be asked are busy. wait is how long its rest lasts. An error says that
// none can be asked.
func (p *pool) choose(now time.Time) (chosen *proxy, wait time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	alive, next := 0, time.Time{}
	for _, x := range p.all {
		if x.aside.After(now) {
			if next.IsZero() || x.aside.Before(next) {
				next = x.aside
			}
			continue
		}
		alive++
		busy := p.most > 0 && x.under >= p.most || x.failures > 0 && x.under > 0
		if !busy && (chosen == nil || x.used.Before(chosen.used)) {
			chosen = x
		}
	}
	switch {
	case alive == 0:
		return nil, 0, Fault{crawl.VerdictRetry, crawl.ReasonNoProxy,
			fmt.Sprintf("no proxy of %d can be asked; the next is tried in %v. The last "+
				"said: %s", len(p.all), next.Sub(now).Round(100*time.Millisecond), cut(p.last))}
	case chosen == nil:
		return nil, 0, nil
	}
	at := now
	if earliest := chosen.used.Add(p.delay); p.delay > 0 && earliest.After(now) {
		at = earliest
	}
	chosen.used = at
	chosen.under++
	return chosen, at.Sub(now), nil
}

// done gives a proxy back.
func (p *pool) done(x *proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.under--
	close(p.free)
	p.free = make(chan struct{})
}

// works notes that a proxy brought an answer.
func (p *pool) works(x *proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.proven, x.suspect, x.failures, x.since, x.aside = true, 0, 0, time.Time{}, time.Time{}
}

// fails puts a proxy aside.
func (p *pool) fails(x *proxy, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setAside(x, time.Now(), why)
}

func (p *pool) setAside(x *proxy, now time.Time, why string) {
	if x.aside.After(now) { // by a request that was made at the same time
		return
	}
	if x.failures == 0 {
		x.since = now
	}
	x.aside = now.Add(min(firstAside<<min(x.failures, 16), longestAside))
	x.failures++
	x.proven, x.suspect = false, 0
	p.last = x.name + ": " + why
}

// cannotReach notes that a proxy said that it cannot reach a site, and reports whether that is the proxy's trouble.
// Where it brought an answer before, the site may be down; where it says so again and again, it is the proxy; and if it
// lasts and neither is certain, the site is taken to be down.
func (p *pool) cannotReach(x *proxy, why string) (ours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if x.proven {
		if x.suspect++; x.suspect < maxSuspect {
			return false
		}
	}
	ours = x.since.IsZero() || now.Sub(x.since) < blameSite
	p.setAside(x, now, why)
	return ours
}

// pools has one for each list of proxies that jobs name.
type pools struct {
	mu    sync.Mutex
	byKey map[string]*pool
}

// of returns the pool of a job; nil: it has no proxies. node is the URL of the node's proxy, for jobs that have none.
func (ps *pools) of(job *crawl.Job, node string) (*pool, error) {
	n := &job.Network
	list := n.Proxies
	if len(list) == 0 {
		if node == "" {
			return nil, nil
		}
		list = []string{node}
	}
	key := fmt.Sprintf("%s\n%v %d", strings.Join(list, "\n"), n.ProxyDelay, n.ProxyConnections)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.byKey[key]; p != nil {
		return p, nil
	}
	urls, err := proxyURLs(list, len(n.Proxies) > 0)
	if err != nil {
		return nil, Fault{crawl.VerdictRetry, crawl.ReasonNoProxy, err.Error()}
	}
	if ps.byKey == nil || len(ps.byKey) >= maxPools {
		ps.byKey = map[string]*pool{}
	}
	p := newPool(urls, n.ProxyDelay.D(), n.ProxyConnections)
	ps.byKey[key] = p
	return p, nil
}

// marked reports whether an answer says that a proxy made it and the site did not: RFC 9209, and Squid.
func marked(h http.Header) bool {
	return strings.Contains(h.Get("Proxy-Status"), "error=") || h.Get("X-Squid-Error") != ""
}

// unreachable are the statuses by which a proxy says that it cannot reach a site.
func unreachable(status int) bool {
	return slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status)
}
