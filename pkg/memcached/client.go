package memcached

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// Client speaks to the servers. It is safe for concurrent use.
type Client struct {
	cfg     Config
	servers []*server
	metrics metrics
}

// Open returns a client. It connects when it is first asked, so that a dead server keeps no program from starting.
func Open(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, metrics: newMetrics(cfg.Metrics)}
	for _, addr := range cfg.Addrs {
		c.servers = append(c.servers, &server{addr: addr, timeout: cfg.Timeout, max: cfg.MaxIdle,
			breaker: breaker{server: addr, log: cfg.Log, now: time.Now}})
	}
	return c, nil
}

// Close closes the idle connections. Calls under way end by themselves.
func (c *Client) Close() {
	for _, s := range c.servers {
		s.close()
	}
}

// key makes the key of a text of any length: the first 160 bits of its SHA-256, since authors of pages choose the text.
// kind tells caches and versions of their values apart.
func (c *Client) key(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return c.cfg.Prefix + ":" + kind + ":" + base64.RawURLEncoding.EncodeToString(sum[:20])
}

// get asks for keys. found gets the place of each key that is there, with a value that is good during the call; calls for
// different servers may run at once. Servers that fail know nothing.
func (c *Client) get(ctx context.Context, cache string, keys []string, found func(i int, value []byte)) {
	if len(keys) == 0 {
		return
	}
	c.each(len(keys), func(i int) string { return keys[i] }, func(s *server, places []int) {
		mine, hits := keys, 0
		if places != nil {
			mine = pick(keys, places)
		}
		err := s.do(ctx, func(b []byte) []byte { return appendGet(b, mine) }, func(r *bufio.Reader) error {
			return readGet(r, mine, func(i int, value []byte) {
				hits++
				if places != nil {
					i = places[i]
				}
				found(i, value)
			})
		})
		c.metrics.got(cache, hits, len(mine), err)
	})
}

// store remembers items. Whether it does is nobody's concern.
func (c *Client) store(ctx context.Context, cache, verb string, items ...item) {
	if len(items) == 0 {
		return
	}
	c.each(len(items), func(i int) string { return items[i].key }, func(s *server, places []int) {
		mine := items
		if places != nil {
			mine = pick(items, places)
		}
		err := s.do(ctx, func(b []byte) []byte {
			for _, it := range mine {
				b = appendStore(b, verb, it)
			}
			return b
		}, func(r *bufio.Reader) error { return readStored(r, len(mine)) })
		c.metrics.stored(cache, len(mine), err)
	})
}

// each calls do for every server with the places of the keys that are its own, for all servers at once; nil means all places.
func (c *Client) each(n int, key func(i int) string, do func(s *server, places []int)) {
	if len(c.servers) == 1 {
		do(c.servers[0], nil)
		return
	}
	places := make([][]int, len(c.servers))
	for i := range n {
		s := c.serverOf(key(i))
		places[s] = append(places[s], i)
	}
	var wg sync.WaitGroup
	for s, p := range places {
		if len(p) > 0 {
			wg.Go(func() { do(c.servers[s], p) })
		}
	}
	wg.Wait()
}

// serverOf chooses the server with the highest hash of itself and the key (rendezvous hashing, Thaler and Ravishankar 1998):
// programs that list the servers in another order agree, and a new server takes over keys without moving others.
func (c *Client) serverOf(key string) int {
	best, highest := 0, uint64(0)
	for i, s := range c.servers {
		if h := xxh3.HashStringSeed(key, xxh3.HashString(s.addr)); h > highest {
			best, highest = i, h
		}
	}
	return best
}

func pick[T any](list []T, places []int) []T {
	out := make([]T, len(places))
	for i, p := range places {
		out[i] = list[p]
	}
	return out
}

// quiet reports whether an error says nothing about a server.
func quiet(err error) bool {
	return errors.Is(err, errResting) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
