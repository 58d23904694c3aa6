package crawl

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

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

// Way tells apart the ways by which jobs reach a host: that it fails by one says nothing of another. It is empty where
// a job goes the usual way.
func (n *Network) Way(u weburl.URL) string {
	if len(n.Proxies) == 0 && len(n.Resolve) == 0 && n.IP == "" {
		return ""
	}
	way := strings.Join(n.Proxies, "\n") + n.IP
	for _, a := range n.Named(u) {
		way += "\n" + a.String()
	}
	if way == "" {
		return ""
	}
	return fmt.Sprintf("%08x", uint32(xxh3.HashString(way)))
}

// RulesOf names the robots.txt that a job obeys at a URL: that of its origin. Where the job names the server itself
// (network.resolve) it is that server's, which may say something else than the one that others ask. OriginOf gives the
// origin of a name.
func (j *Job) RulesOf(u weburl.URL) string {
	named := j.Network.Named(u)
	if len(named) == 0 {
		return u.Origin()
	}
	name := u.Origin()
	for i, a := range named {
		name += string("#,"[min(i, 1)]) + a.String()
	}
	return name
}

// OriginOf is the origin (scheme://host[:port]) of what RulesOf names.
func OriginOf(rules string) string {
	origin, _, _ := strings.Cut(rules, "#")
	return origin
}
