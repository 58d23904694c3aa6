package memcached

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

func TestAddressesAreSharedForTheirTimeToLive(t *testing.T) {
	public4, public6 := netip.MustParseAddr("198.41.0.4"), netip.MustParseAddr("2001:503:ba3e::2:30")
	for _, tc := range []struct {
		name, host string
		addrs      []netip.Addr
		ttl        time.Duration
		err        error
		asked      int // by two questions
	}{
		{"addresses", "A.test", []netip.Addr{public4, public6}, time.Minute, nil, 1},
		{"a long time to live", "a.test", []netip.Addr{public4}, 48 * time.Hour, nil, 1},
		{"a short one", "a.test", []netip.Addr{public4}, time.Second, nil, 2},
		{"one that is not known", "a.test", []netip.Addr{public4}, -1, nil, 2},
		{"a private address among them", "a.test", []netip.Addr{public4, netip.MustParseAddr("10.0.0.1")}, time.Minute, nil,
			2},
		{"a single label", "intranet", []netip.Addr{public4}, time.Minute, nil, 2},
		{"a failure", "a.test", nil, time.Minute, errors.New("no such host"), 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next := newStore()
			next.addrs, next.ttl, next.err = tc.addrs, tc.ttl, tc.err
			s := open(t).Source(next)
			for range 2 {
				addrs, ttl, err := s.Resolve(context.Background(), tc.host)
				if !slices.Equal(addrs, tc.addrs) || !errors.Is(err, tc.err) || ttl > tc.ttl ||
					tc.ttl > 0 && ttl < min(tc.ttl, maxDNS)-30*time.Second {
					t.Errorf("got %v for %v, error %v", addrs, ttl, err)
				}
			}
			if next.asked != tc.asked {
				t.Errorf("the source was asked %d times, want %d", next.asked, tc.asked)
			}
		})
	}
}

func TestAPrivateAddressInTheCacheIsNotBelieved(t *testing.T) {
	c, next := open(t), newStore()
	next.addrs, next.ttl = []netip.Addr{netip.MustParseAddr("198.41.0.4")}, time.Minute
	evil := encodeAnswer([]netip.Addr{netip.MustParseAddr("169.254.169.254")}, time.Minute, time.Now())
	c.store(context.Background(), "dns", (*memcache.Client).Set, c.key(dnsKind, "a.test"), evil, time.Minute)
	addrs, _, err := c.Source(next).Resolve(context.Background(), "a.test")
	if err != nil || !slices.Equal(addrs, next.addrs) || next.asked != 1 {
		t.Errorf("got %v, error %v", addrs, err)
	}
}

func TestAnAnswerComesBackAsItWas(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	addrs := []netip.Addr{netip.MustParseAddr("2001:503:ba3e::2:30"), netip.MustParseAddr("198.41.0.4")}
	for _, tc := range []struct {
		at, left time.Duration
	}{{0, time.Minute}, {20 * time.Second, 40 * time.Second}, {-time.Hour, time.Minute}, {time.Minute, 0}} {
		got, left := decodeAnswer(encodeAnswer(addrs, time.Minute, now), now.Add(tc.at))
		if left != tc.left || tc.left > 0 && !reflect.DeepEqual(got, addrs) || tc.left == 0 && got != nil {
			t.Errorf("after %v: %v for %v, want %v", tc.at, got, left, tc.left)
		}
	}
}
