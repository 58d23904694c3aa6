package dnscache

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// maxAliases is how many CNAME records are followed, and maxAddrs how many addresses of a family are kept.
const (
	maxAliases = 16
	maxAddrs   = 16
)

// readAnswer follows the aliases from fqdn and collects the addresses at their end. Records of other names do not
// answer the question and are ignored. The time to live is the shortest on the way.
func readAnswer(reply *dns.Msg, fqdn string, qtype uint16) records {
	var rec records
	owner, ttl := fqdn, uint32(1<<31-1) // RFC 2181, section 8: the largest
	for range maxAliases {
		alias := ""
		for _, rr := range reply.Answer {
			h := rr.Header()
			if !strings.EqualFold(h.Name, owner) {
				continue
			}
			if addr, ok := address(rr); ok && h.Rrtype == qtype && len(rec.addrs) < maxAddrs {
				rec.addrs = append(rec.addrs, addr)
				ttl = min(ttl, h.Ttl)
			}
			if cname, ok := rr.(*dns.CNAME); ok && alias == "" {
				alias = cname.Target
				ttl = min(ttl, h.Ttl)
			}
		}
		if len(rec.addrs) > 0 || alias == "" {
			break
		}
		owner = alias
	}
	rec.ttl = time.Duration(ttl) * time.Second
	return rec
}

// address returns the address that an A or AAAA record holds.
func address(rr dns.RR) (netip.Addr, bool) {
	var ip net.IP
	switch rr := rr.(type) {
	case *dns.A:
		ip = rr.A.To4()
	case *dns.AAAA:
		ip = rr.AAAA
	}
	return netip.AddrFromSlice(ip)
}
