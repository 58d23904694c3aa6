package e2e_test

import (
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// nameServer answers for the names under the given suffixes ("hostile.test.") with the address that belongs to the
// suffix, and passes all other questions on to another server.
func nameServer(t *testing.T, addresses map[string]string, others string) string {
	t.Helper()
	answer := func(q *dns.Msg) *dns.Msg {
		for suffix, addr := range addresses {
			if len(q.Question) == 1 && strings.HasSuffix(strings.ToLower(q.Question[0].Name), suffix) {
				return answered(q, addr)
			}
		}
		if others != "" {
			if m, err := dns.Exchange(q, others); err == nil {
				return m
			}
		}
		return new(dns.Msg).SetRcode(q, dns.RcodeNameError)
	}
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := make(chan struct{})
	s := &dns.Server{PacketConn: conn, NotifyStartedFunc: func() { close(up) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { _ = w.WriteMsg(answer(q)) })}
	go func() { _ = s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() { _ = s.Shutdown() })
	return conn.LocalAddr().String()
}

// answered gives an address of the family that was asked for, or none.
func answered(q *dns.Msg, addr string) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	ip := net.ParseIP(addr)
	header := dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET, Ttl: 300}
	switch {
	case q.Question[0].Qtype == dns.TypeA && ip.To4() != nil:
		m.Answer = []dns.RR{&dns.A{Hdr: header, A: ip}}
	case q.Question[0].Qtype == dns.TypeAAAA && ip.To4() == nil:
		m.Answer = []dns.RR{&dns.AAAA{Hdr: header, AAAA: ip}}
	}
	return m
}
