package netguard

import "net/netip"

// special is a range of addresses and what to call it.
type special struct {
	prefix netip.Prefix
	kind   string
}

// special4 holds what the IANA IPv4 Special-Purpose Address Registry (RFC 6890) does not call globally reachable, the
// ranges that are no unicast, and one public address that answers only inside a cloud.
var special4 = table(
	"127.0.0.0/8", "loopback",
	"10.0.0.0/8", "private",
	"172.16.0.0/12", "private",
	"192.168.0.0/16", "private",
	"169.254.0.0/16", "link-local", // 169.254.169.254 is the metadata service of most clouds
	"100.64.0.0/10", "shared by a carrier", // RFC 6598; 100.100.100.200 is the metadata service of Alibaba Cloud
	"0.0.0.0/8", "unspecified",
	"168.63.129.16/32", "a cloud's metadata service", // Azure
	"192.0.0.0/24", "reserved for protocols", // 192.0.0.192 is the metadata service of Oracle Cloud
	"192.0.2.0/24", "for documentation only",
	"198.51.100.0/24", "for documentation only",
	"203.0.113.0/24", "for documentation only",
	"192.88.99.0/24", "a 6to4 relay",
	"198.18.0.0/15", "for benchmarks only",
	"224.0.0.0/4", "multicast",
	"255.255.255.255/32", "broadcast",
	"240.0.0.0/4", "reserved",
)

// All global unicast addresses that were ever assigned lie in 2000::/3; what lies elsewhere is refused, these ranges
// by their names.
var (
	global6     = netip.MustParsePrefix("2000::/3")
	prefix6to4  = netip.MustParsePrefix("2002::/16")    // RFC 3056: the IPv4 address follows the prefix
	prefixNAT64 = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: the IPv4 address is at the end
)

// special6 holds the exceptions inside 2000::/3 (IANA IPv6 Special-Purpose Address Registry).
var special6 = table(
	"2001:db8::/32", "for documentation only",
	"3fff::/20", "for documentation only",
	"2001::/23", "reserved for protocols", // Teredo, which embeds IPv4 addresses, benchmarks, ORCHID
)

var local6 = table(
	"::1/128", "loopback",
	"::/128", "unspecified",
	"fc00::/7", "private", // fd00:ec2::254 is the metadata service of AWS
	"fe80::/10", "link-local",
	"fec0::/10", "private",
	"ff00::/8", "multicast",
)

// table reads pairs of a prefix and its kind. The pairs are constants of this file.
func table(pairs ...string) []special {
	t := make([]special, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		t = append(t, special{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return t
}
