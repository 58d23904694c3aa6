// Package robotscache caches the compiled rules of robots.txt files in memory, in front of a crawl.RobotsStore.
//
// Its duties, in order:
//
//  1. [Cache.Rules] returns the rules of an origin for a job's agent, compiled once for each agent, until the record
//     expires.
//  2. [Cache.Put] stores a record and updates this cache at once. Other processes see the new record when theirs has
//     expired, as the record's Expires promises.
//
// Missing records are not cached: an origin without a record is looked up each time, since its robots.txt may arrive at
// any moment. Memory is bounded by origins and by bytes. The package never fetches anything.
package robotscache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Config bounds the cache.
type Config struct {
	MaxOrigins int
	MaxBytes   int64 // of robots.txt bodies, with a flat charge an origin
	// Grace is how long after its expiry a record still counts: tasks were leased while it was good.
	Grace time.Duration
}

// Default returns 10,000 origins, 64 MiB and five minutes.
func Default() Config {
	return Config{MaxOrigins: 10_000, MaxBytes: 64 << 20, Grace: 5 * time.Minute}
}

// Validate reports what is wrong with the configuration.
func (c *Config) Validate() error {
	if c.MaxOrigins < 1 || c.MaxBytes < 1 || c.Grace < 0 {
		return errors.New("robots cache: want room for at least one origin and one byte, and a grace of 0 or more")
	}
	return nil
}

// originCost is charged for each origin beside its body: map entry, list element, record and compiled rules.
const originCost = 1 << 10

// Cache is safe for concurrent use.
type Cache struct {
	cfg     Config
	store   crawl.RobotsStore
	entries *lru.Cache[string, entry]
}

// entry is not changed once it is in the cache.
type entry struct {
	rules  map[string]*robots.Rules // by agent
	record crawl.Robots             // without its body
}

// maxAgents is for how many agents an origin's rules are kept: jobs mostly share one.
const maxAgents = 16

// New returns a cache over store.
func New(store crawl.RobotsStore, cfg Config) (*Cache, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Cache{cfg: cfg, store: store, entries: lru.New[string, entry](cfg.MaxOrigins, cfg.MaxBytes)}, nil
}

// Rules returns the rules of an origin (scheme://host[:port]) for an agent and the record they come from,
// without its body. found is false when the store has none, or only one that expired longer than Grace ago.
func (c *Cache) Rules(ctx context.Context, origin,
	agent string) (rules *robots.Rules, rec crawl.Robots, found bool, err error) {
	now := time.Now()
	if e, ok := c.entries.Get(origin); ok && now.Before(e.record.Expires) {
		if rules, ok := e.rules[agent]; ok {
			return rules, e.record, true, nil
		}
	}
	r, found, err := c.File(ctx, origin)
	if err != nil {
		return nil, crawl.Robots{}, false, err
	}
	if !found || !now.Before(r.Expires.Add(c.cfg.Grace)) {
		return nil, crawl.Robots{}, false, nil
	}
	r.Origin = origin
	e := c.keep(r, agent)
	return e.rules[agent], e.record, true, nil
}

// File returns the stored robots.txt of an origin with its body, however old.
func (c *Cache) File(ctx context.Context, origin string) (crawl.Robots, bool, error) {
	r, found, err := c.store.Robots(ctx, origin)
	if err != nil {
		return crawl.Robots{}, false, fmt.Errorf("read the robots.txt of %s from the store: %w", origin, err)
	}
	return r, found, nil
}

// Allowed reports whether the rules that a job obeys at a URL, as far as they are known, let it fetch that. A
// robots.txt that cannot be had now is not known: it may be had when the URL's turn comes.
func (c *Cache) Allowed(ctx context.Context, job *crawl.Job, u weburl.URL) (allowed, known bool, err error) {
	rules, rec, known, err := c.Rules(ctx, job.RulesOf(u), job.RobotsAgent())
	if err != nil || !known || rec.State == crawl.RobotsDisallowAll {
		return false, false, err
	}
	return rules.Allowed(u.RequestURI()), true, nil
}

// Put stores r and remembers it, with the rules for an agent.
func (c *Cache) Put(ctx context.Context, r crawl.Robots, agent string) error {
	if err := c.store.PutRobots(ctx, r); err != nil {
		return fmt.Errorf("store the robots.txt of %s: %w", r.Origin, err)
	}
	c.keep(r, agent)
	return nil
}

func (c *Cache) keep(r crawl.Robots, agent string) entry {
	e := entry{rules: map[string]*robots.Rules{}, record: r}
	if old, ok := c.entries.Get(r.Origin); ok && len(old.rules) < maxAgents && old.record.FetchedAt.Equal(r.FetchedAt) {
		maps.Copy(e.rules, old.rules)
	}
	e.rules[agent] = r.Rules(agent)
	e.record.Body = nil
	c.entries.Put(r.Origin, e, int64(len(r.Body))+originCost)
	return e
}
