package node

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// names is a DNS whose answers vary, and the store that keeps the first.
type names struct {
	mu    sync.Mutex
	dns   map[string][]netip.Addr
	err   error
	kept  map[string]netip.Addr
	asked int
}

func (n *names) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if n.err != nil {
		return nil, n.err
	}
	if len(n.dns[host]) == 0 {
		return nil, &dnscache.Error{Host: host, Kind: dnscache.ErrNoSuchHost}
	}
	return n.dns[host], nil
}

func (n *names) Address(_ context.Context, host string) (netip.Addr, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, ok := n.kept[host]
	return a, ok, nil
}

func (n *names) KeepAddress(_ context.Context, host string, addr netip.Addr) (netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if kept, ok := n.kept[host]; ok {
		return kept, nil
	}
	n.kept[host] = addr
	return addr, nil
}

func TestAllNodesPlaceAHostByTheFirstAnswer(t *testing.T) {
	ctx := context.Background()
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	n := &names{dns: map[string][]netip.Addr{"a.test": {two, one}}, kept: map[string]netip.Addr{}}
	first, other := newAddressBook(n, n, func() {}), newAddressBook(n, n, func() {})
	if a, err := first.Find(ctx, "a.test"); a != one || err != nil {
		t.Errorf("the least of two addresses: %v, %v", a, err)
	}
	n.dns["a.test"] = []netip.Addr{two}
	if a, err := other.Find(ctx, "a.test"); a != one || err != nil || n.asked != 1 {
		t.Errorf("another node, after DNS has changed: %v, %v, DNS asked %d times", a, err, n.asked)
	}
	if a, err := first.Find(ctx, "nowhere.test"); a.IsValid() || err != nil {
		t.Errorf("a host without address: %v, %v", a, err)
	}
	n.err = &dnscache.Error{Host: "b.test", Kind: dnscache.ErrServer}
	if _, err := first.Find(ctx, "b.test"); !errors.Is(err, dnscache.ErrServer) {
		t.Errorf("a name server that is away: %v; the host must not be placed by its name for good", err)
	}
}

func TestTheFrontierIsToldWhenAPlaceIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken := make(chan struct{}, 10)
		n := &names{dns: map[string][]netip.Addr{"a.test": {netip.MustParseAddr("192.0.2.1")}}, kept: map[string]netip.Addr{}}
		b := newAddressBook(n, n, func() { woken <- struct{}{} })
		for i := range 3 { // from the second on it may have been looked up meanwhile
			if _, err := b.Recall(context.Background(), "a.test"); err == nil && i == 0 {
				t.Fatal("an address that nobody has looked up was in memory")
			}
		}
		<-woken
		if a, err := b.Recall(context.Background(), "a.test"); !a.IsValid() || err != nil || n.asked != 1 {
			t.Errorf("afterwards %v, %v; DNS asked %d times", a, err, n.asked)
		}
	})
}
