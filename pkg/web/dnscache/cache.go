package dnscache

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
)

// Cache answers lookups. It is safe for concurrent use.
type Cache struct {
	cfg     Config
	hosts   hostsFile
	source  Source
	metrics metrics
	answers *lru.Cache[string, answer]

	mu      sync.Mutex
	flights map[string]*flight // lookups under way, by name
}

// Source is where answers come from: a name server, the system, or what Config.Over puts before them.
type Source interface {
	// Resolve returns the addresses of name, lower case without a dot at its end, and how long they are good; a
	// negative ttl means that it is not known. The error is an *Error.
	Resolve(ctx context.Context, name string) (addrs []netip.Addr, ttl time.Duration, err error)
}

// answer is a lookup's result. Its addresses are never changed.
type answer struct {
	addrs   []netip.Addr
	err     error
	expires time.Time
}

// flight is a lookup under way; ans may be read once done is closed.
type flight struct {
	done chan struct{}
	ans  answer
}

// New returns a cache over the configured source. reg may be nil.
func New(cfg Config, reg prometheus.Registerer) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	hosts, err := readHosts(cfg.HostsFile)
	if err != nil {
		return nil, err
	}
	src, err := newSource(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Over != nil {
		src = cfg.Over(src)
	}
	return &Cache{cfg: cfg, hosts: hosts, source: src, metrics: newMetrics(reg),
		answers: lru.New[string, answer](cfg.MaxNames, 0), flights: map[string]*flight{}}, nil
}

// Lookup returns the addresses of host, IPv4 first: a name in ASCII, or an address, IPv6 with or without brackets.
// There is at least one address unless err is not nil: an *Error of kind ErrNoSuchHost or ErrServer, or the context's
// own. The caller must not change the slice.
func (c *Cache) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	start := time.Now()
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if addrs, ok := c.static(name); ok {
		return addrs, nil
	}
	if ans, ok := c.answers.Get(name); ok && start.Before(ans.expires) {
		c.metrics.observe(true, ans.err, time.Since(start))
		return ans.addrs, ans.err
	}
	if _, ok := dns.IsDomainName(name); !ok || name == "" {
		return nil, &Error{Host: host, Kind: ErrNoSuchHost, Detail: "not a valid name"}
	}
	f := c.join(ctx, name)
	select {
	case <-f.done:
		c.metrics.observe(false, f.ans.err, time.Since(start))
		return f.ans.addrs, f.ans.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// static answers what needs no name server.
func (c *Cache) static(name string) ([]netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return []netip.Addr{addr}, true
	}
	if addrs, ok := c.hosts[name]; ok {
		return addrs, true
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761, section 6.3
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, true
	}
	return nil, false
}

// join starts the lookup of name, or joins the one that is under way. It outlives the caller that started it, since
// others may be waiting for it.
func (c *Cache) join(ctx context.Context, name string) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.flights[name]; ok {
		return f
	}
	f := &flight{done: make(chan struct{})}
	c.flights[name] = f
	go c.fly(context.WithoutCancel(ctx), name, f)
	return f
}

func (c *Cache) fly(ctx context.Context, name string, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	addrs, ttl, err := c.source.Resolve(ctx, name)
	f.ans = answer{addrs: addrs, err: err, expires: time.Now().Add(c.keep(ttl, err))}
	c.answers.Put(name, f.ans, 0)
	c.mu.Lock()
	delete(c.flights, name)
	c.mu.Unlock()
	close(f.done)
}

// keep says how long an answer is good.
func (c *Cache) keep(ttl time.Duration, err error) time.Duration {
	switch {
	case errors.Is(err, ErrNoSuchHost):
		return c.cfg.NegativeTTL
	case err != nil:
		return c.cfg.FailureTTL
	case ttl < 0:
		return c.cfg.MaxTTL
	}
	return min(max(ttl, c.cfg.MinTTL), c.cfg.MaxTTL)
}
