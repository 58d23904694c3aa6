package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/lru"
)

// addressBook keeps the addresses by which a ring that is partitioned by ip places hosts. The first answer of DNS that
// any node got holds for all nodes and for good: with later answers a host would belong to two nodes. A host that has
// no address is placed by its name.
type addressBook struct {
	store    keptAddresses
	resolver fetcher.Resolver
	wake     func() // something became known

	known *lru.Cache[string, netip.Addr]

	mu      sync.Mutex
	pending map[string]bool // being looked up in the background
}

// keptAddresses is the store that all nodes share.
type keptAddresses interface {
	// Address returns what is kept for a host; false: nothing yet.
	Address(ctx context.Context, host string) (addr netip.Addr, found bool, err error)
	// KeepAddress keeps addr, which may be invalid, unless something is kept already, and returns what is kept.
	KeepAddress(ctx context.Context, host string, addr netip.Addr) (netip.Addr, error)
}

const (
	// knownHosts bounds the memory of a book: about 20 MB.
	knownHosts = 1 << 17
	// backgroundLooks bounds the look-ups in the background.
	backgroundLooks = 32
)

var errLookingUp = errors.New("the host's address is being looked up")

func newAddressBook(store keptAddresses, resolver fetcher.Resolver, wake func()) *addressBook {
	return &addressBook{store: store, resolver: resolver, wake: wake, known: lru.New[string, netip.Addr](knownHosts, 0),
		pending: map[string]bool{}}
}

// Find implements ring.Addresses. It may ask the store and DNS.
func (b *addressBook) Find(ctx context.Context, host string) (netip.Addr, error) {
	if addr, ok := b.known.Get(host); ok {
		return addr, nil
	}
	addr, found, err := b.store.Address(ctx, host)
	if err == nil && !found {
		if addr, err = b.resolve(ctx, host); err == nil {
			addr, err = b.store.KeepAddress(ctx, host, addr)
		}
	}
	if err != nil {
		return netip.Addr{}, fmt.Errorf("place of host %s in the ring: %w", host, err)
	}
	b.known.Put(host, addr, 0)
	return addr, nil
}

// resolve returns the least of a host's addresses, so that nodes that ask at once are likely to agree; an invalid one
// where it has none.
func (b *addressBook) resolve(ctx context.Context, host string) (netip.Addr, error) {
	addrs, err := b.resolver.Lookup(ctx, host)
	if errors.Is(err, dnscache.ErrNoSuchHost) {
		return netip.Addr{}, nil
	}
	if err != nil {
		return netip.Addr{}, err
	}
	return slices.MinFunc(addrs, netip.Addr.Compare), nil
}

// Recall implements ring.Addresses from memory. What is not there is looked up in the background, and wake is called
// when it is.
func (b *addressBook) Recall(_ context.Context, host string) (netip.Addr, error) {
	if addr, ok := b.known.Get(host); ok {
		return addr, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.pending[host] && len(b.pending) < backgroundLooks {
		b.pending[host] = true
		go b.lookUp(host)
	}
	return netip.Addr{}, errLookingUp
}

//nolint:contextcheck // its answer is for everybody, not only for who asked first
func (b *addressBook) lookUp(host string) {
	_, err := b.Find(context.Background(), host) // store and resolver have time limits of their own
	b.mu.Lock()
	delete(b.pending, host)
	b.mu.Unlock()
	if err == nil {
		b.wake()
	}
}
