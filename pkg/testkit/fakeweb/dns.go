package fakeweb

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"
)

// dnsServer answers for the hosts of a web. It holds one counter for each rebinding host and nothing else.
type dnsServer struct {
	web     *Web
	network network
	addr    string
	servers []*dns.Server
	queries atomic.Int64
	rebound []atomic.Int32 // questions so far, per rebinding host
}

// serveDNS opens UDP and TCP at one port of the network and answers until close; work counts its goroutines.
func serveDNS(w *Web, at network, work *sync.WaitGroup) (*dnsServer, error) {
	d := &dnsServer{web: w, network: at, rebound: make([]atomic.Int32, w.cfg.RebindHosts)}
	packets, stream, err := listenDNS(at.names())
	if err != nil {
		return nil, fmt.Errorf("fakeweb: listening for DNS: %w", err)
	}
	d.addr = packets.LocalAddr().String()
	d.servers = []*dns.Server{{PacketConn: packets, Handler: d}, {Listener: stream, Handler: d}}
	for _, s := range d.servers {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		work.Go(func() { s.ActivateAndServe() }) // it returns once it is shut down
		<-started
	}
	return d, nil
}

// dnsBuffer is for the questions that come while a busy machine has no time for the server: what does not fit is lost,
// and a client waits for seconds before it asks again.
const dnsBuffer = 4 << 20

// listenDNS finds a port that is free for both.
func listenDNS(at netip.Addr) (packets net.PacketConn, stream net.Listener, err error) {
	for range listenTries {
		if packets, err = net.ListenPacket("udp4", netip.AddrPortFrom(at, 0).String()); err != nil {
			return nil, nil, err
		}
		if u, ok := packets.(*net.UDPConn); ok {
			_ = u.SetReadBuffer(dnsBuffer) // best effort
		}
		if stream, err = net.Listen("tcp4", packets.LocalAddr().String()); err == nil {
			return packets, stream, nil
		}
		packets.Close()
	}
	return nil, nil, err
}

// ServeDNS implements dns.Handler.
func (d *dnsServer) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	d.queries.Add(1)
	m := new(dns.Msg)
	m.SetReply(q)
	m.Authoritative, m.RecursionAvailable = true, true
	if len(q.Question) != 1 {
		m.Rcode = dns.RcodeFormatError
	} else {
		d.answer(m, q.Question[0])
	}
	w.WriteMsg(m) // the client asks again if this is lost
}

func (d *dnsServer) answer(m *dns.Msg, q dns.Question) {
	h, ok := d.web.parseHost(strings.ToLower(q.Name))
	if !ok || h.kind == unknown {
		m.Rcode = dns.RcodeNameError
		m.Ns = []dns.RR{d.soa()}
		return
	}
	if q.Qtype != dns.TypeA && q.Qtype != dns.TypeANY {
		m.Ns = []dns.RR{d.soa()} // the name exists, but has no such record
		return
	}
	addr, ttl := d.network.address(h), d.ttl()
	if h.kind == rebind {
		ttl = 0
		if d.rebound[h.n].Add(1) == 1 {
			addr = publicAddress()
		}
	}
	m.Answer = []dns.RR{record(q.Name, addr, ttl)}
}

func record(name string, addr netip.Addr, ttl uint32) dns.RR {
	return &dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: ttl}, A: addr.AsSlice()}
}

func (d *dnsServer) ttl() uint32 { return uint32(d.web.cfg.DNSTTL.Seconds()) }

// soa lets clients cache that something does not exist (RFC 2308).
func (d *dnsServer) soa() dns.RR {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: "test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: d.ttl()},
		Ns:  "ns.test.", Mbox: "hostmaster.test.", Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: d.ttl(),
	}
}

func (d *dnsServer) close() error {
	var first error
	for _, s := range d.servers {
		if err := s.Shutdown(); err != nil && first == nil {
			first = fmt.Errorf("fakeweb: closing DNS: %w", err)
		}
	}
	return first
}
