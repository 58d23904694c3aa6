package fetcher

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// maxDialled bounds how many addresses of a host are tried, and minDial is the least time each gets while there is any.
const (
	maxDialled = 4
	minDial    = 2 * time.Second
)

// dialError says that no connection came about.
type dialError struct {
	addr netip.Addr
	err  error
}

func (e *dialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.addr, e.err) }
func (e *dialError) Unwrap() error { return e.err }

// dialer connects to hosts that it resolves itself.
type dialer struct {
	dns          Resolver
	allowPrivate bool
	way          way
	net          net.Dialer
}

func newDialer(dns Resolver, allowPrivate bool) *dialer {
	d := &dialer{dns: dns, allowPrivate: allowPrivate}
	d.net.ControlContext = d.control
	return d
}

// control is between the choice of an address and the connection to it.
func (d *dialer) control(ctx context.Context, network, address string, conn syscall.RawConn) error {
	if !d.allowPrivate {
		if err := netguard.Control(ctx, network, address, conn); err != nil {
			return err
		}
	}
	if ap, err := netip.ParseAddrPort(address); err == nil {
		contactOf(ctx).dialling(ap.Addr().Unmap())
	}
	return nil
}

// dial connects to the address that the frontier reckoned with, so that its politeness is true of the address too, and
// where that fails, or there is none, to those that the name has, one after the other.
func (d *dialer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c := contactOf(ctx)
	if addrs, ok := d.way.named(host, port); ok {
		if addrs, err = d.way.only(host, addrs); err != nil {
			return nil, err
		}
		return d.each(ctx, c.connect, port, addrs[:min(len(addrs), maxDialled)]...)
	}
	var first error
	if c.prefer.IsValid() && d.way.takes(c.prefer) {
		conn, err := d.each(ctx, c.connect, port, c.prefer)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		first = err
	}
	addrs, err := d.dns.Lookup(ctx, host)
	switch {
	case err != nil && first != nil:
		return nil, first
	case err != nil:
		return nil, err
	}
	if addrs, err = d.way.only(host, addrs); err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool { return first != nil && a == c.prefer })
	if len(rest) == 0 {
		return nil, first
	}
	return d.each(ctx, c.connect, port, rest[:min(len(rest), maxDialled)]...)
}

// each tries the addresses in order within the timeout. Of several errors the one about a connection that was tried
// counts, since it says more than that others were refused.
func (d *dialer) each(ctx context.Context, timeout time.Duration, port string, addrs ...netip.Addr) (net.Conn, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var tried, refused error
	for i, addr := range addrs {
		conn, err := d.one(ctx, net.JoinHostPort(addr.String(), port), len(addrs)-i)
		switch {
		case err == nil:
			return conn, nil
		case isGuard(err):
			refused = err
		default:
			tried = &dialError{addr: addr, err: err}
		}
		if ctx.Err() != nil {
			break
		}
	}
	if tried != nil {
		return nil, tried
	}
	return nil, refused
}

// one dials one address in its share of the time that is left.
func (d *dialer) one(ctx context.Context, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		share := max(time.Until(deadline)/time.Duration(left), minDial)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return d.net.DialContext(ctx, "tcp", address)
}
