package fakeweb

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func ask(t *testing.T, s *Server, network, name string, qtype uint16) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	c := dns.Client{Net: network, Timeout: time.Minute}
	r, _, err := c.ExchangeContext(t.Context(), m, s.DNSAddr())
	if err != nil {
		t.Fatalf("%s over %s: %v", name, network, err)
	}
	return r
}

func TestDNS(t *testing.T) {
	cfg := Plain(20, 20)
	cfg.DeadHosts, cfg.NXHosts, cfg.DNSTTL = 1, 1, 90*time.Second
	s := serve(t, cfg, Options{})
	for _, c := range []struct {
		name   string
		qtype  uint16
		rcode  int
		answer string
	}{
		{"www.site-00000.test.", dns.TypeA, dns.RcodeSuccess, "127.80.0.1"},
		{"WWW.Site-00001.TEST.", dns.TypeA, dns.RcodeSuccess, "127.80.0.2"},
		{"www.site-00000.test.", dns.TypeAAAA, dns.RcodeSuccess, ""},
		{"dead-00000.test.", dns.TypeA, dns.RcodeSuccess, "127.81.0.1"},
		{"nx-00000.test.", dns.TypeA, dns.RcodeNameError, ""},
		{"www.site-00099.test.", dns.TypeA, dns.RcodeNameError, ""},
		{"example.org.", dns.TypeA, dns.RcodeNameError, ""},
	} {
		for _, network := range []string{"udp", "tcp"} {
			r := ask(t, s, network, c.name, c.qtype)
			got := ""
			for _, rr := range r.Answer {
				got += rr.(*dns.A).A.String()
				if rr.Header().Ttl != 90 {
					t.Errorf("%s: TTL %d", c.name, rr.Header().Ttl)
				}
			}
			if r.Rcode != c.rcode || got != c.answer {
				t.Errorf("%s over %s: %s %q, want %s %q", c.name, network, dns.RcodeToString[r.Rcode], got,
					dns.RcodeToString[c.rcode], c.answer)
			}
			if got == "" && len(r.Ns) == 0 {
				t.Errorf("%s: nothing says how long to remember that", c.name)
			}
		}
	}
	if n := s.DNSQueries(); n != 14 {
		t.Errorf("%d queries counted, want 14", n)
	}
}

// A web in a network of its own is served there and nowhere else, and so is DNS.
func TestNetwork(t *testing.T) {
	cfg := Plain(5, 5)
	cfg.Addresses, cfg.DeadHosts = 2, 1
	s := serve(t, cfg, Options{Network: netip.MustParsePrefix("127.99.0.0/16")})
	if got, want := s.DNSAddr(), "127.99.0.254:"; !strings.HasPrefix(got, want) {
		t.Errorf("DNS is answered at %s, want %s", got, want)
	}
	for name, want := range map[string]string{"www.site-00000.test.": "127.99.0.1", "www.site-00001.test.": "127.99.0.2",
		"dead-00000.test.": "127.99.200.1"} {
		if got := ask(t, s, "udp", name, dns.TypeA).Answer[0].(*dns.A).A.String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for p := range s.Web().Pages {
		res, _ := fetch(t, client(t, s), "GET", p.URL)
		if entries := s.Log().Entries(); res.StatusCode != http.StatusOK || entries[0].Local != "127.99.0.1" {
			t.Errorf("%s: status %d, log %v", p.URL, res.StatusCode, entries)
		}
		break
	}
	for _, network := range []string{"127.99.0.0/24", "::/16"} {
		if s, err := Serve(t.Context(), New(cfg), Options{Network: netip.MustParsePrefix(network)}); err == nil {
			s.Close()
			t.Errorf("a web is served in %s", network)
		}
	}
}

func TestRebindingNameChangesItsAnswer(t *testing.T) {
	cfg := Plain(1, 1)
	cfg.RebindHosts = 2
	s := serve(t, cfg, Options{})
	for _, name := range []string{"rebind-00000.test.", "rebind-00001.test."} {
		for _, want := range []string{"203.0.113.7", "127.0.0.1", "127.0.0.1"} {
			a := ask(t, s, "udp", name, dns.TypeA).Answer[0].(*dns.A)
			if a.A.String() != want || a.Hdr.Ttl != 0 {
				t.Errorf("%s is %v for %d s, want %s for none", name, a.A, a.Hdr.Ttl, want)
			}
		}
	}
}
