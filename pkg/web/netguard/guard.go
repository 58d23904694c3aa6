// Package netguard keeps a crawler out of networks that are not public: the machine itself, the local network, the
// metadata service of a cloud (server-side request forgery, OWASP).
//
// Its duties, in order:
//
//  1. [Check] says whether an address is public, looking through the IPv6 forms that carry an IPv4 address.
//  2. [Control] does so for the address that is about to be dialled. A name may resolve to something else each time it
//     is asked for (DNS rebinding), so what was checked before the dial proves nothing.
//  3. [CheckHost] does what can be done about a host that a proxy will resolve.
//
// It must never resolve a name, and never let an address pass that it cannot read.
package netguard

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// Error says that an address is not public.
type Error struct {
	Addr netip.Addr // invalid where Host says it all
	Host string     // the host or address as it was given
	Kind string     // loopback, private, link-local …
}

// Error implements error.
func (e *Error) Error() string {
	if e.Addr.IsValid() {
		return "address " + e.Addr.String() + " is " + e.Kind
	}
	return "host " + e.Host + " is " + e.Kind
}

// Check returns an *Error unless addr is a public unicast address.
func Check(addr netip.Addr) error {
	if kind := Kind(addr); kind != "" {
		return &Error{Addr: addr, Host: addr.String(), Kind: kind}
	}
	return nil
}

// Kind names what makes addr unfit to be crawled, or returns "" for a public unicast address.
func Kind(addr netip.Addr) string {
	addr = addr.WithZone("").Unmap()
	switch {
	case !addr.IsValid():
		return "no address"
	case addr.Is4():
		return kindOf(addr, special4)
	case global6.Contains(addr):
		if v4, ok := embedded(addr, prefix6to4, 2); ok {
			return Kind(v4)
		}
		return kindOf(addr, special6)
	}
	if v4, ok := embedded(addr, prefixNAT64, 12); ok {
		return Kind(v4)
	}
	if kind := kindOf(addr, local6); kind != "" {
		return kind
	}
	return "not globally routed"
}

// embedded returns the IPv4 address that lies at octet at of an address in prefix.
func embedded(addr netip.Addr, prefix netip.Prefix, at int) (netip.Addr, bool) {
	if !prefix.Contains(addr) {
		return netip.Addr{}, false
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[at : at+4])), true
}

func kindOf(addr netip.Addr, table []special) string {
	for _, s := range table {
		if s.prefix.Contains(addr) {
			return s.kind
		}
	}
	return ""
}

// Control refuses to connect to an address that is not public. It is meant for net.Dialer.ControlContext, which is
// called with the address itself, after all resolving.
func Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("guard %q: %w", address, err)
	}
	return Check(ap.Addr())
}

// CheckHost returns an *Error when host, a name or an address in the form of a URL, is not public by its own text: an
// address (IPv6 with or without brackets) or a name that means this machine (RFC 6761, section 6.3). It is the most
// that can be done when a proxy resolves the name; the proxy needs its own guard against names that resolve to a
// private address.
func CheckHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return Check(addr)
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return &Error{Host: host, Kind: "loopback"}
	}
	return nil
}
