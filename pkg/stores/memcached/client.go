package memcached

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/zeebo/xxh3"
)

// Client speaks to the servers. It is safe for concurrent use.
type Client struct {
	cfg     Config
	servers []*server
	metrics metrics

	background chan func()
	ctx        context.Context // done when the client is closed
	cancel     context.CancelFunc
	writers    sync.WaitGroup
}

// What is stored in the background: so many values wait at most, a megabyte of them, and so many calls are made at
// once.
const (
	maxWaiting = 4096
	writers    = 4
)

// Open returns a client. It connects when it is first asked, so that a dead server keeps no program from starting.
func Open(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, metrics: newMetrics(cfg.Metrics), background: make(chan func(), maxWaiting)}
	for _, addr := range cfg.Addrs {
		c.servers = append(c.servers, newServer(addr, &cfg))
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for range writers {
		c.writers.Go(c.write)
	}
	return c, nil
}

// Close closes the idle connections, and forgets what waits to be stored. Calls under way end by themselves.
func (c *Client) Close() {
	c.cancel()
	c.writers.Wait()
	for _, s := range c.servers {
		_ = s.client.Close()
	}
}

func (c *Client) write() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case do := <-c.background:
			do()
		}
	}
}

// key makes the key for a text of any length: the first 160 bits of its SHA-256, since authors of pages choose the
// text. kind separates caches and versions of their values.
func (c *Client) key(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return c.cfg.Prefix + ":" + kind + ":" + base64.RawURLEncoding.EncodeToString(sum[:20])
}

// get asks for keys, all servers at once. Servers that fail know nothing.
func (c *Client) get(ctx context.Context, cache string, keys ...string) map[string]*memcache.Item {
	if len(c.servers) == 1 {
		return c.getFrom(ctx, c.servers[0], cache, keys)
	}
	shares := map[*server][]string{}
	for _, k := range keys {
		s := c.serverOf(k)
		shares[s] = append(shares[s], k)
	}
	answers := make(chan map[string]*memcache.Item, len(shares))
	for s, share := range shares {
		go func() { answers <- c.getFrom(ctx, s, cache, share) }()
	}
	all := make(map[string]*memcache.Item, len(keys))
	for range shares {
		maps.Copy(all, <-answers)
	}
	return all
}

func (c *Client) getFrom(ctx context.Context, s *server, cache string,
	keys []string) (items map[string]*memcache.Item) {
	if len(keys) == 0 {
		return nil
	}
	err := ctx.Err()
	if err == nil {
		err = s.do(func(m *memcache.Client) (err error) { items, err = m.GetMulti(keys); return err })
	}
	hits := 0
	for _, k := range keys { // a strange server may say more than it was asked
		if items[k] != nil {
			hits++
		}
	}
	c.metrics.got(cache, hits, len(keys), err)
	return items
}

// verb is how an item is stored: (*memcache.Client).Set always, Add only where there is none.
type verb func(*memcache.Client, *memcache.Item) error

// store caches a value. Best effort: errors are ignored.
func (c *Client) store(ctx context.Context, cache string, as verb, key string, value []byte, ttl time.Duration) {
	err := ctx.Err()
	if err == nil {
		it := &memcache.Item{Key: key, Value: value, Expiration: seconds(ttl)}
		err = c.serverOf(key).do(func(m *memcache.Client) error { return as(m, it) })
	}
	c.metrics.stored(cache, err)
}

// storeLater is store in the background; while too many values wait there it does nothing.
func (c *Client) storeLater(cache string, as verb, key string, value []byte, ttl time.Duration) {
	select {
	case c.background <- func() { c.store(c.ctx, cache, as, key, value, ttl) }:
	default:
		c.metrics.stored(cache, errDropped)
	}
}

// seconds rounds up; more than 30 days would be a date to memcached.
func seconds(ttl time.Duration) int32 {
	const most = 30 * 24 * time.Hour
	return int32((min(max(ttl, 1), most) + time.Second - 1) / time.Second)
}

// serverOf chooses the server with the highest hash of itself and the key (rendezvous hashing, Thaler and Ravishankar
// 1998): programs that list the servers in another order agree, and a new server takes over keys without moving others.
func (c *Client) serverOf(key string) *server {
	best, highest := c.servers[0], uint64(0)
	if len(c.servers) == 1 {
		return best
	}
	for _, s := range c.servers {
		if h := xxh3.HashStringSeed(key, xxh3.HashString(s.addr)); h > highest {
			best, highest = s, h
		}
	}
	return best
}
