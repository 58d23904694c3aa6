package local

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Hosts keeps host records and robots.txt files.
type Hosts struct{ s *Store }

var (
	_ crawl.Hosts       = Hosts{}
	_ crawl.RobotsStore = Hosts{}
)

// Hosts returns the host records and robots.txt files.
func (s *Store) Hosts() Hosts { return Hosts{s} }

// Hosts implements crawl.Hosts.
func (h Hosts) Hosts(_ context.Context, keys ...string) ([]crawl.Host, error) {
	hosts := make([]crawl.Host, len(keys))
	entries := make([][]byte, len(keys))
	for i, key := range keys {
		hosts[i].Key, entries[i] = key, stringKey(kindHost, key)
	}
	err := h.s.getAll(entries, func(i int, v []byte) error {
		if err := decodeHost(v, &hosts[i]); err != nil {
			return fmt.Errorf("record of host %q: %w", keys[i], err)
		}
		return nil
	})
	return hosts, err
}

// PutHosts implements crawl.Hosts.
func (h Hosts) PutHosts(ctx context.Context, hosts ...crawl.Host) error {
	if len(hosts) == 0 {
		return nil
	}
	values := make([][]byte, len(hosts))
	buf := make([]byte, 0, 64*len(hosts))
	for i := range hosts {
		start := len(buf)
		buf = appendHost(buf, &hosts[i])
		values[i] = buf[start:len(buf):len(buf)]
	}
	return h.s.do(ctx, func(b *pebble.Batch) {
		for i := range hosts {
			_ = b.Set(stringKey(kindHost, hosts[i].Key), values[i], nil)
		}
	})
}

// Robots implements crawl.RobotsStore.
func (h Hosts) Robots(_ context.Context, origin string) (r crawl.Robots, found bool, err error) {
	found, err = h.s.get(stringKey(kindRobots, origin), func(v []byte) error { return crawl.DecodeValue(v, &r) })
	if err != nil {
		err = fmt.Errorf("robots.txt of %q: %w", origin, err)
	}
	return r, found, err
}

// PutRobots implements crawl.RobotsStore.
func (h Hosts) PutRobots(ctx context.Context, r crawl.Robots) error {
	v, err := crawl.EncodeValue(&r)
	if err != nil {
		return fmt.Errorf("robots.txt of %q: %w", r.Origin, err)
	}
	return h.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(stringKey(kindRobots, r.Origin), v, nil) })
}

// Meta keeps small named values for the program that runs the crawl: the job, the node's identity.
type Meta struct{ s *Store }

// Meta returns the named values.
func (s *Store) Meta() Meta { return Meta{s} }

// Get returns the value of a name; found is false where there is none.
func (m Meta) Get(_ context.Context, name string) (value []byte, found bool, err error) {
	found, err = m.s.get(stringKey(kindMeta, name), func(v []byte) error {
		value = append([]byte{}, v...)
		return nil
	})
	return value, found, err
}

// Put sets the value of a name; it is durable when Put returns.
func (m Meta) Put(ctx context.Context, name string, value []byte) error {
	return m.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(stringKey(kindMeta, name), value, nil) })
}

// Delete forgets a name.
func (m Meta) Delete(ctx context.Context, name string) error {
	return m.s.do(ctx, func(b *pebble.Batch) { _ = b.Delete(stringKey(kindMeta, name), nil) })
}
