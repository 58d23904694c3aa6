package fakeweb

import (
	"net/netip"
	"strconv"
	"strings"
)

// hostKind tells what answers at a host.
type hostKind uint8

const (
	ordinary hostKind = iota
	dead
	unknown // no such name
	slow
	trap
	rebind
)

// hostRef names a host: the n-th of its kind.
type hostRef struct {
	kind hostKind
	n    int
}

// special host names are their kind, a dash, a number and ".test".
var specialPrefix = [...]string{dead: "dead-", unknown: "nx-", slow: "slow-", trap: "trap-", rebind: "rebind-"}

// Ordinary hosts come in cycles of five over three registrable domains, so that a crawl meets hosts that share a
// domain, domains without www, and the usual kind. (.test is not on the public suffix list, so the default rule
// applies and site-00017.test is a registrable domain.)
const (
	hostCycle   = 5
	domainCycle = 3
)

var cycle = [hostCycle]struct {
	label  string
	domain int
}{{"www.", 0}, {"www.", 1}, {"blog.", 1}, {"", 2}, {"shop.", 2}}

// appendHost writes a host's name without port.
func appendHost(dst []byte, h hostRef) []byte {
	if h.kind != ordinary {
		return append(appendNumber(append(dst, specialPrefix[h.kind]...), h.n), ".test"...)
	}
	c := cycle[h.n%hostCycle]
	dst = append(append(dst, c.label...), "site-"...)
	return append(appendNumber(dst, h.n/hostCycle*domainCycle+c.domain), ".test"...)
}

// appendNumber writes n with at least five digits.
func appendNumber(dst []byte, n int) []byte {
	for limit := 10_000; limit > n && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// parseHost is the inverse of appendHost, in any case, with or without port and final dot.
func (w *Web) parseHost(name string) (hostRef, bool) {
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	rest, ok := strings.CutSuffix(name, ".test")
	if !ok {
		return hostRef{}, false
	}
	dash := strings.LastIndexByte(rest, '-') + 1
	n, err := strconv.Atoi(rest[dash:])
	if err != nil || n < 0 {
		return hostRef{}, false
	}
	h, ok := w.guessHost(rest[:dash], n)
	if !ok {
		return hostRef{}, false
	}
	var buf [64]byte
	return h, string(appendHost(buf[:0], h)) == name // refuses other spellings of the number
}

func (w *Web) guessHost(prefix string, n int) (hostRef, bool) {
	if label, ok := strings.CutSuffix(prefix, "site-"); ok {
		for i, c := range cycle {
			if c.label == label && c.domain == n%domainCycle {
				h := hostRef{ordinary, n/domainCycle*hostCycle + i}
				return h, h.n < w.cfg.Hosts
			}
		}
		return hostRef{}, false
	}
	for kind := dead; kind <= rebind; kind++ {
		if specialPrefix[kind] == prefix {
			return hostRef{kind, n}, n < w.count(kind)
		}
	}
	return hostRef{}, false
}

// count is how many hosts of a kind there are.
func (w *Web) count(k hostKind) int {
	switch k {
	case ordinary:
		return w.cfg.Hosts
	case dead:
		return w.cfg.DeadHosts
	case unknown:
		return w.cfg.NXHosts
	case slow:
		return w.cfg.SlowHosts
	case trap:
		return w.cfg.TrapHosts
	default:
		return w.cfg.RebindHosts
	}
}

// Specials are the home pages of the hosts that come on top of the ordinary ones, by what is wrong with them: "dead",
// "nx", "slow", "trap" and "rebind". Kinds without hosts are absent.
func (w *Web) Specials() map[string][]string {
	found := make(map[string][]string)
	for kind := dead; kind <= rebind; kind++ {
		name := strings.TrimSuffix(specialPrefix[kind], "-")
		for n := range w.count(kind) {
			found[name] = append(found[name], string(append(w.appendOrigin(nil, hostRef{kind, n}), '/')))
		}
	}
	return found
}

// appendOrigin writes scheme, host and port.
func (w *Web) appendOrigin(dst []byte, h hostRef) []byte {
	if w.cfg.TLS {
		dst = append(dst, "https://"...)
	} else {
		dst = append(dst, "http://"...)
	}
	dst = appendHost(dst, h)
	if w.port != 0 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(w.port), 10)
	}
	return dst
}

// network is where the hosts of a served web are found.
type network struct {
	base   netip.Addr // first address of a /16; invalid: loopback
	shared int        // by so many addresses
}

// at is an address of the network, or of a loopback network.
func (n network) at(loopback, third, fourth byte) netip.Addr {
	a := [4]byte{127, loopback}
	if n.base.IsValid() {
		a = n.base.As4()
	}
	return netip.AddrFrom4([4]byte{a[0], a[1], third, fourth})
}

// listen is the i-th address that hosts are served at. A single one on loopback is 127.0.0.1, the only loopback address
// that exists everywhere.
func (n network) listen(i int) netip.Addr {
	if n.shared == 1 && !n.base.IsValid() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return n.at(80, byte(i/200), byte(1+i%200))
}

// dead is an address nobody listens at. Those of hosts that are served end below x.x.21.0.
func (n network) dead(i int) netip.Addr {
	third := byte(i / 200 % 250)
	if n.base.IsValid() {
		third = 200 + third%50
	}
	return n.at(81, third, byte(1+i%200))
}

// names is where DNS is answered.
func (n network) names() netip.Addr {
	if !n.base.IsValid() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return n.at(0, 0, 254)
}

// publicAddress is what a rebinding host resolves to first: TEST-NET-3 (RFC 5737), which is never dialled.
func publicAddress() netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, 7}) }

// address is where a host that exists is found.
func (n network) address(h hostRef) netip.Addr {
	switch h.kind {
	case dead:
		return n.dead(h.n)
	case rebind:
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	default:
		return n.listen(h.n % n.shared)
	}
}
