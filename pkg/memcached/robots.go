package memcached

import (
	"context"
	"time"

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
	s.c.get(ctx, "robots", []string{key}, func(_ int, value []byte) { r, found = decodeRobots(value, origin, time.Now()) })
	if found {
		return r, true, nil
	}
	if r, found, err = s.next.Robots(ctx, origin); found && err == nil {
		s.remember(ctx, verbAdd, key, r)
	}
	return r, found, err
}

// PutRobots implements crawl.RobotsStore.
func (s robots) PutRobots(ctx context.Context, r crawl.Robots) error {
	if err := s.next.PutRobots(ctx, r); err != nil {
		return err
	}
	s.remember(ctx, verbSet, s.c.key(robotsKind, r.Origin), r)
	return nil
}

// remember caches a record. One that must not be believed, or is too large, is cached as nothing, so that a set takes the
// place of the record before.
func (s robots) remember(ctx context.Context, verb, key string, r crawl.Robots) {
	ttl := min(time.Until(r.Expires), robotsTTL)
	value, err := crawl.EncodeValue(r)
	if err != nil || len(value) > maxValue/2 || ttl <= 0 {
		if verb == verbAdd {
			return
		}
		value = nil
	}
	s.c.store(ctx, "robots", verb, item{key, value, ttl})
}

// decodeRobots reads a cached record; ok is false for one that is damaged, of another origin, or expired.
func decodeRobots(value []byte, origin string, now time.Time) (r crawl.Robots, ok bool) {
	if err := crawl.DecodeValue(value, &r); err != nil || r.Origin != origin || !now.Before(r.Expires) {
		return crawl.Robots{}, false
	}
	return r, true
}
