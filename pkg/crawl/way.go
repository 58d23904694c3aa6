package crawl

import (
	"net/netip"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Named are the addresses that network.resolve gives the host of a URL; none: it leaves that to name servers. The last
// entry for a host counts, and an entry for any host where none names it.
func (n *Network) Named(u weburl.URL) (addrs []netip.Addr) {
	if len(n.Resolve) == 0 {
		return nil
	}
	host, port, exact := u.Hostname(), u.EffectivePort(), false
	for _, text := range n.Resolve {
		e, err := ParseResolve(text)
		switch {
		case err != nil || strconv.Itoa(e.Port) != port:
		case e.Host == host:
			addrs, exact = e.Addrs, true
		case e.Host == "*" && !exact:
			addrs = e.Addrs
		}
	}
	return addrs
}
