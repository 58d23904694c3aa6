package experiment

import (
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/miekg/dns"
)

// startNameServer starts a name server on loopback that answers after a log-normal time with the median delay.
func startNameServer(delay time.Duration) (*nameServer, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // it ends with stop
	if err != nil {
		return nil, err
	}
	s := &nameServer{address: conn.LocalAddr().String(), conn: conn}
	s.done.Go(func() { s.serve(delay) })
	return s, nil
}

// stop ends the server, and waits for the answers under way.
func (s *nameServer) stop() {
	_ = s.conn.Close()
	s.done.Wait()
}

func (s *nameServer) serve(delay time.Duration) {
	buf := make([]byte, dns.MaxMsgSize)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var q dns.Msg
		if q.Unpack(buf[:n]) != nil || len(q.Question) == 0 {
			continue
		}
		s.asked.Add(1)
		wait := time.Duration(float64(delay) * math.Exp(0.5*rand.NormFloat64()))
		s.done.Go(func() {
			time.Sleep(wait)
			if out, err := answer(&q).Pack(); err == nil {
				_, _ = s.conn.WriteTo(out, from)
			}
		})
	}
}

// answer is 127.0.0.1, good for an hour; of other types than A there is none.
func answer(q *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	if q.Question[0].Qtype == dns.TypeA {
		head := dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 3600}
		m.Answer = []dns.RR{&dns.A{Hdr: head, A: net.IPv4(127, 0, 0, 1)}}
	}
	return m
}
