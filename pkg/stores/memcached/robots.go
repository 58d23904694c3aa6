package memcached

import (
	"context"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// robotsTTL is the longest time that a cached robots.txt is believed; see the package comment.
const robotsTTL = 10 * time.Minute

// robotsKind names the format of the values: crawl.EncodeValue of a crawl.Robots.
const robotsKind = "r1"

type robots struct {
	c    *Client
	next crawl.RobotsStore
}

// Robots puts the cache before a store of robots.txt files.
func (c *Client) Robots(next crawl.RobotsStore) crawl.RobotsStore { return robots{c, next} }

// Robots implements crawl.RobotsStore.
func (s robots) Robots(ctx context.Context, origin string) (r crawl.Robots, found bool, err error) {
	key := s.c.key(robotsKind, origin)
	if it := s.c.get(ctx, "robots", key)[key]; it != nil {
		if r, found = decodeRobots(it.Value, origin, time.Now()); found {
			return r, true, nil
		}
	}
	if r, found, err = s.next.Robots(ctx, origin); found && err == nil {
		if value, ttl := cached(r); len(value) > 0 {
			s.c.store(ctx, "robots", (*memcache.Client).Add, key, value, ttl)
		}
	}
	return r, found, err
}

// PutRobots implements crawl.RobotsStore.
func (s robots) PutRobots(ctx context.Context, r crawl.Robots) error {
	if err := s.next.PutRobots(ctx, r); err != nil {
		return err
	}
	value, ttl := cached(r)
	s.c.store(ctx, "robots", (*memcache.Client).Set, s.c.key(robotsKind, r.Origin), value, ttl)
	return nil
}

// maxRobots bounds cached records, in bytes; servers take a megabyte by default.
const maxRobots = 512 << 10

// cached returns the value of a record and its time to live. A record that must not be cached, or is too large, becomes
// an empty value: it replaces the record before, and so hides it.
func cached(r crawl.Robots) (value []byte, ttl time.Duration) {
	ttl = min(time.Until(r.Expires), robotsTTL)
	value, err := crawl.EncodeValue(r)
	if err != nil || len(value) > maxRobots || ttl <= 0 {
		return nil, time.Second
	}
	return value, ttl
}

// decodeRobots reads a cached record; ok is false for one that is damaged, of another origin, or expired.
func decodeRobots(value []byte, origin string, now time.Time) (r crawl.Robots, ok bool) {
	if err := crawl.DecodeValue(value, &r); err != nil || r.Origin != origin || !now.Before(r.Expires) {
		return crawl.Robots{}, false
	}
	return r, true
}
