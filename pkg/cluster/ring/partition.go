package ring

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Partition says what the ring's keys are: URLs of one key belong to one node. It is a property of the ring, fixed at
// its creation.
type Partition uint8

// The partitions.
const (
	// ByHost is the default: host and port, the unit of politeness.
	ByHost Partition = iota
	// ByDomain keeps all hosts of a registrable domain on one node: few distinct sites, but shared budgets a site.
	ByDomain
	// ByIP keeps all hosts of an address on one node, so that the delay between requests to one address holds over all
	// nodes.
	ByIP
	// ByURL spreads the URLs of one host over all nodes. Each node then keeps the host's delay times the number of
	// nodes (DelayFactor).
	ByURL
)

var partitionNames = []string{"host", "domain", "ip", "url"}

// String returns the partition's name.
func (p Partition) String() string {
	if p.validate() != nil {
		return fmt.Sprintf("partition %d", uint8(p))
	}
	return partitionNames[p]
}

// MarshalText implements encoding.TextMarshaler.
func (p Partition) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Partition) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePartition(string(text))
	return err
}

// ParsePartition reads host, domain, ip or url.
func ParsePartition(s string) (Partition, error) {
	i := slices.Index(partitionNames, s)
	if i < 0 {
		return 0, fmt.Errorf("partition %q: want %s", s, strings.Join(partitionNames, ", "))
	}
	return Partition(i), nil
}

func (p Partition) validate() error {
	if int(p) >= len(partitionNames) {
		return fmt.Errorf("partition %d: this build knows %d of them", uint8(p), len(partitionNames))
	}
	return nil
}

// Addresses returns the address that stands for a host name. It must return the same address on all nodes for as long
// as URLs of the host are open, so store the first answer where all nodes see it. With plain DNS, whose answers vary, a
// host would belong to two nodes. An invalid address stands for a host without one, which is placed by its name.
type Addresses func(ctx context.Context, host string) (netip.Addr, error)

// ErrNoAddresses says that a partition by address was used without Addresses.
var ErrNoAddresses = errors.New("a ring that is partitioned by ip needs the addresses of hosts")

// Key returns the key of a URL. Only ByIP uses addresses, and only it fails: where the host has no address, or
// Addresses is nil.
func (p Partition) Key(ctx context.Context, u weburl.URL, addresses Addresses) (string, error) {
	switch p {
	case ByDomain:
		return u.RegistrableDomain(), nil
	case ByIP:
		return addressKey(ctx, u, addresses)
	case ByURL:
		return u.String(), nil
	}
	return u.HostKey(), nil
}

func addressKey(ctx context.Context, u weburl.URL, addresses Addresses) (string, error) {
	if u.IsIP() {
		if a, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil {
			return a.Unmap().String(), nil
		}
	}
	if addresses == nil {
		return "", ErrNoAddresses
	}
	a, err := addresses(ctx, u.Hostname())
	if err != nil {
		return "", fmt.Errorf("address of %s: %w", u.Hostname(), err)
	}
	if !a.IsValid() {
		return u.HostKey(), nil
	}
	return a.Unmap().String(), nil
}

// DelayFactor is the factor for a host's delay on each node: 1, but with ByURL the number of nodes that may lease. On
// average, requests to a host are then as rare as from one node. But two nodes do not know each other's last request,
// so two requests may come close together: to keep every single gap, partition by host.
func (t *Table) DelayFactor() int {
	if t.partition != ByURL {
		return 1
	}
	n := 0
	for _, node := range t.nodes {
		if node.State != Gone {
			n++
		}
	}
	return max(n, 1)
}

// Delay returns the delay that each node keeps for a host whose delay is d.
func (t *Table) Delay(d time.Duration) time.Duration { return d * time.Duration(t.DelayFactor()) }
