package memcached

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// dnsKind names the format of the values: a byte for its version, the end of the answer's life in milliseconds since
// 1970 (8 bytes), its time to live in milliseconds (8), and for each address its length and itself.
const (
	dnsKind    = "d1"
	dnsVersion = 1
)

// Times to live that are shared: shorter ones are not worth it, longer ones are cut (dnscache keeps no answer longer).
const (
	minDNS = 2 * time.Second
	maxDNS = time.Hour
)

type source struct {
	c    *Client
	next dnscache.Source
}

// Source puts the cache before a source of DNS answers. Its place is behind a cache in memory: it is a
// dnscache.Config.Over.
func (c *Client) Source(next dnscache.Source) dnscache.Source { return source{c, next} }

// Resolve implements dnscache.Source. An answer of unknown time to live is not shared.
func (s source) Resolve(ctx context.Context, name string) (addrs []netip.Addr, ttl time.Duration, err error) {
	if !strings.Contains(name, ".") { // it means another host in each network
		return s.next.Resolve(ctx, name)
	}
	key := s.c.key(dnsKind, strings.ToLower(strings.TrimSuffix(name, ".")))
	if it := s.c.get(ctx, "dns", key)[key]; it != nil {
		if addrs, ttl = decodeAnswer(it.Value, time.Now()); len(addrs) > 0 {
			return addrs, ttl, nil
		}
	}
	addrs, ttl, err = s.next.Resolve(ctx, name)
	if err == nil && ttl >= minDNS && public(addrs) {
		kept := min(ttl, maxDNS)
		s.c.store(ctx, "dns", (*memcache.Client).Set, key, encodeAnswer(addrs, kept, time.Now()), kept)
	}
	return addrs, ttl, err
}

// public reports whether all addresses are of the public internet.
func public(addrs []netip.Addr) bool {
	for _, a := range addrs {
		if netguard.Check(a) != nil {
			return false
		}
	}
	return len(addrs) > 0
}

func encodeAnswer(addrs []netip.Addr, ttl time.Duration, now time.Time) []byte {
	b := []byte{dnsVersion}
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(ttl).UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, uint64(ttl.Milliseconds()))
	for _, a := range addrs {
		raw := a.AsSlice()
		b = append(append(b, byte(len(raw))), raw...)
	}
	return b
}

// decodeAnswer reads what encodeAnswer wrote and returns the time to live that is left. It returns no addresses if the
// value is damaged, expired, or holds an address that is not public. Clocks differ, so the rest is at most the original
// time to live.
func decodeAnswer(b []byte, now time.Time) (addrs []netip.Addr, left time.Duration) {
	if len(b) < 17 || b[0] != dnsVersion {
		return nil, 0
	}
	end, ttl := binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	if ttl > uint64(maxDNS.Milliseconds()) || end > 1<<62 {
		return nil, 0
	}
	left = min(time.UnixMilli(int64(end)).Sub(now), time.Duration(ttl)*time.Millisecond)
	for b = b[17:]; len(b) > 0; {
		n := int(b[0])
		if len(b) < 1+n {
			return nil, 0
		}
		a, ok := netip.AddrFromSlice(b[1 : 1+n])
		if !ok {
			return nil, 0
		}
		addrs, b = append(addrs, a), b[1+n:]
	}
	if left <= 0 || !public(addrs) {
		return nil, 0
	}
	return addrs, left
}
