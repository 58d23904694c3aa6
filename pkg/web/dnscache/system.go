package dnscache

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// system asks the resolver of the operating system, which does not tell how long an answer is good.
type system struct{ resolver *net.Resolver }

// Resolve implements Source.
func (s system) Resolve(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
	if dotted(name) {
		name += "." // no search list
	}
	addrs, err := s.resolver.LookupNetIP(ctx, "ip", name)
	var dnsErr *net.DNSError
	switch {
	case errors.As(err, &dnsErr) && dnsErr.IsNotFound, err == nil && len(addrs) == 0:
		return nil, 0, &Error{Host: name, Kind: ErrNoSuchHost}
	case err != nil:
		return nil, 0, &Error{Host: name, Kind: ErrServer, Detail: err.Error()}
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	sortFamilies(addrs)
	return addrs, -1, nil
}
