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
		addrs, ttl, err = n.both(ctx, dns.Fqdn(strings.TrimSuffix(name+"."+domain, ".")))
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

// both asks for IPv4 and IPv6 addresses at once. One family is enough: some servers never answer for the other.
func (n *nameServers) both(ctx context.Context, fqdn string) ([]netip.Addr, time.Duration, error) {
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
		return nil, 0, &Error{Host: host, Kind: ErrServer, Detail: errors.Join(v4.err, v6.err).Error()}
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
			last = fmt.Errorf("%s: %w", server, err)
			if ctx.Err() != nil {
				return records{err: last}
			}
		}
	}
	return records{err: last}
}

// exchange asks one server, over TCP where the answer does not fit into UDP. Only an answer to the very question, that
// the name exists or that it does not, is no error.
func (n *nameServers) exchange(ctx context.Context, q *dns.Msg, server string) (*dns.Msg, error) {
	reply, _, err := n.udp.ExchangeContext(ctx, q, server)
	if err == nil && reply.Truncated {
		reply, _, err = n.tcp.ExchangeContext(ctx, q, server)
	}
	switch {
	case err != nil:
		return nil, err
	case len(reply.Question) != 1 || !strings.EqualFold(reply.Question[0].Name, q.Question[0].Name) ||
		reply.Question[0].Qtype != q.Question[0].Qtype:
		return nil, errors.New("it answered another question")
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return nil, errors.New(dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}
