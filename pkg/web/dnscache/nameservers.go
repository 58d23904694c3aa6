package dnscache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// nameServers asks name servers directly.
type nameServers struct {
	servers []string // tried in order
	search  []string // domains for single labels; the empty one stands for the name as it is
	udp     *dns.Client
	tcp     *dns.Client
}

// rounds is how often each server is asked, and attemptTimeout how long one attempt may take (resolv.conf(5) has 2
// and 5 s; a crawler asks again anyway).
const (
	rounds         = 2
	attemptTimeout = 3 * time.Second
)

// udpSize is the largest answer over UDP that is not cut apart on its way (DNS Flag Day 2020).
const udpSize = 1232

func newSource(cfg Config) (Source, error) {
	if cfg.Server != "" {
		address, err := serverAddress(cfg.Server)
		if err != nil {
			return nil, err
		}
		return newNameServers([]string{address}, nil), nil
	}
	conf, err := dns.ClientConfigFromFile(cfg.ResolvConf)
	if err != nil || len(conf.Servers) == 0 {
		return system{net.DefaultResolver}, nil //nolint:nilerr // no file, no servers: ask the system
	}
	servers := make([]string, len(conf.Servers))
	for i, s := range conf.Servers {
		servers[i] = net.JoinHostPort(s, conf.Port)
	}
	return newNameServers(servers, conf.Search), nil
}

func newNameServers(servers, search []string) *nameServers {
	return &nameServers{servers: servers, search: append(search[:len(search):len(search)], ""),
		udp: &dns.Client{Net: "udp", Timeout: attemptTimeout, UDPSize: udpSize},
		tcp: &dns.Client{Net: "tcp", Timeout: attemptTimeout}}
}

// dotted reports whether name has more than one label.
func dotted(name string) bool { return strings.Contains(name, ".") }

// Resolve implements Source.
func (n *nameServers) Resolve(ctx context.Context, name string) ([]netip.Addr, time.Duration, error) {
	domains := n.search
	if dotted(name) {
		domains = []string{""}
	}
	var err error
	for _, domain := range domains {
		var addrs []netip.Addr
		var ttl time.Duration
		addrs, ttl, err = n.families(ctx, dns.Fqdn(strings.TrimSuffix(name+"."+domain, ".")))
		if !errors.Is(err, ErrNoSuchHost) {
			return addrs, ttl, err
		}
	}
	return nil, 0, err
}

// records are the addresses of one family.
type records struct {
	addrs []netip.Addr
	ttl   time.Duration
	err   error // of kind ErrServer; a name that does not exist has no addresses
}

// families asks for IPv4 and IPv6 addresses at once. One family is enough: some servers never answer for the other.
func (n *nameServers) families(ctx context.Context, fqdn string) ([]netip.Addr, time.Duration, error) {
	var v4, v6 records
	var wg sync.WaitGroup
	wg.Go(func() { v6 = n.query(ctx, fqdn, dns.TypeAAAA) })
	v4 = n.query(ctx, fqdn, dns.TypeA)
	wg.Wait()
	host := strings.TrimSuffix(fqdn, ".")
	switch {
	case len(v4.addrs) > 0 && len(v6.addrs) > 0:
		return append(v4.addrs, v6.addrs...), min(v4.ttl, v6.ttl), nil
	case len(v4.addrs) > 0:
		return v4.addrs, v4.ttl, nil
	case len(v6.addrs) > 0:
		return v6.addrs, v6.ttl, nil
	case v4.err != nil || v6.err != nil:
		return nil, 0, &Error{Host: host, Kind: ErrServer, Detail: both(v4.err, v6.err)}
	}
	return nil, 0, &Error{Host: host, Kind: ErrNoSuchHost}
}

// query asks the servers in turn until one has an answer.
func (n *nameServers) query(ctx context.Context, fqdn string, qtype uint16) records {
	q := new(dns.Msg).SetQuestion(fqdn, qtype)
	q.SetEdns0(udpSize, false)
	var last error
	for range rounds {
		for _, server := range n.servers {
			reply, err := n.exchange(ctx, q, server)
			if err == nil {
				return readAnswer(reply, fqdn, qtype)
			}
			last = fmt.Errorf("the name server %s %w", server, err)
			if ctx.Err() != nil {
				return records{err: last}
			}
		}
	}
	return records{err: last}
}

// exchange asks one server, over TCP where the answer does not fit into UDP. Only an answer to the very question, that
// the name exists or that it does not, is no error. Its errors go on from the words "the name server".
func (n *nameServers) exchange(ctx context.Context, q *dns.Msg, server string) (*dns.Msg, error) {
	reply, _, err := n.udp.ExchangeContext(ctx, q, server)
	if err == nil && reply.Truncated {
		reply, err = n.whole(ctx, q, server, reply)
	}
	switch {
	case err != nil:
		return nil, told(err)
	case reply.Truncated && len(readAnswer(reply, q.Question[0].Name, q.Question[0].Qtype).addrs) == 0:
		return nil, errors.New("cut its answer short, also over TCP")
	case len(reply.Question) != 1 || !strings.EqualFold(reply.Question[0].Name, q.Question[0].Name) ||
		reply.Question[0].Qtype != q.Question[0].Qtype:
		return nil, errors.New("answered another question")
	case q.IsEdns0() != nil && (reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented):
		// It knows no EDNS (RFC 6891, section 7).
		return n.exchange(ctx, new(dns.Msg).SetQuestion(q.Question[0].Name, q.Question[0].Qtype), server)
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return nil, errors.New("answered " + dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}

// whole asks over TCP for an answer that was cut. Where TCP is shut, what came over UDP serves if there is an address
// in it.
func (n *nameServers) whole(ctx context.Context, q *dns.Msg, server string, cut *dns.Msg) (*dns.Msg, error) {
	reply, _, err := n.tcp.ExchangeContext(ctx, q, server)
	if err != nil && len(readAnswer(cut, q.Question[0].Name, q.Question[0].Qtype).addrs) > 0 {
		return cut, nil
	}
	return reply, err
}

// told words what kept an answer from us. The system's words name ports that differ each time.
func told(err error) error {
	var e net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &e) && e.Timeout():
		return errors.New("did not answer in time")
	case errors.As(err, &op):
		return fmt.Errorf("could not be asked: %w", op.Err)
	}
	return fmt.Errorf("gave no answer that can be read: %w", err)
}

// both says what is wrong with the look-ups of the two families, once where it is the same.
func both(v4, v6 error) string {
	switch {
	case v4 == nil:
		return v6.Error()
	case v6 == nil || v4.Error() == v6.Error():
		return v4.Error()
	}
	return v4.Error() + "; " + v6.Error()
}
