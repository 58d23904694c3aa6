package dnscache

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// zone is a name server on loopback: records by "name TYPE", and what it does with other questions.
type zone struct {
	mu      sync.Mutex
	records map[string][]string
	rcode   map[string]int
	asked   []string
}

func (z *zone) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	name := strings.ToLower(q.Question[0].Name)
	key := name + " " + dns.TypeToString[q.Question[0].Qtype]
	_, tcp := w.RemoteAddr().(*net.TCPAddr)
	z.asked = append(z.asked, key)
	m := new(dns.Msg).SetReply(q)
	m.Rcode = z.rcode[name]
	for _, s := range z.records[key] {
		rr, err := dns.NewRR(s)
		if err != nil {
			panic(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	if strings.HasPrefix(name, "big.") && !tcp {
		m.Answer, m.Truncated = nil, true
	}
	switch {
	case strings.HasPrefix(name, "cut."):
		m.Truncated = true
	case strings.HasPrefix(name, "few.") && tcp:
		_ = w.Close()
		return
	case strings.HasPrefix(name, "few."):
		m.Truncated = true
	case strings.HasPrefix(name, "plain.") && q.IsEdns0() != nil:
		m.Answer, m.Rcode = nil, dns.RcodeFormatError
	}
	if strings.HasPrefix(name, "other.") {
		m.Question[0].Name = "elsewhere.test."
	}
	_ = w.WriteMsg(m)
}

// take returns what was asked since it was last called.
func (z *zone) take() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	asked := z.asked
	z.asked = nil
	return asked
}

// start serves z over UDP and TCP at one port and returns its address.
func (z *zone) start(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dns.Server{{Listener: ln, Handler: z}, {PacketConn: pc, Handler: z}} {
		up := make(chan struct{})
		s.NotifyStartedFunc = func() { close(up) }
		go func() { _ = s.ActivateAndServe() }()
		<-up
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return ln.Addr().String()
}

func testZone() *zone {
	return &zone{
		records: map[string][]string{
			"both.test. A":     {"both.test. 60 A 192.0.2.1", "both.test. 60 A 192.0.2.2"},
			"both.test. AAAA":  {"both.test. 30 AAAA 2001:db8::1"},
			"v6.test. AAAA":    {"v6.test. 60 AAAA 2001:db8::6"},
			"alias.test. A":    {"end.test. 60 A 192.0.2.3", "alias.test. 5 CNAME mid.test.", "mid.test. 60 CNAME End.test."},
			"stray.test. A":    {"victim.test. 60 A 192.0.2.66"},
			"loop.test. A":     {"loop.test. 60 CNAME loop.test."},
			"half.test. A":     {"half.test. 60 A 192.0.2.4"},
			"big.test. A":      {"big.test. 60 A 192.0.2.5"},
			"few.test. A":      {"few.test. 60 A 192.0.2.9"},
			"plain.test. A":    {"plain.test. 60 A 192.0.2.10"},
			"web.corp.test. A": {"web.corp.test. 60 A 192.0.2.8"},
		},
		rcode: map[string]int{"gone.test.": dns.RcodeNameError, "broken.test.": dns.RcodeServerFailure,
			"web.": dns.RcodeNameError, "a.b.": dns.RcodeNameError},
	}
}

func TestAnswersOfANameServer(t *testing.T) {
	cfg := Default()
	cfg.HostsFile, cfg.Server = "", testZone().start(t)
	c, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, tc := range map[string]struct {
		addrs string
		err   error
	}{
		"both.test":   {addrs: "[192.0.2.1 192.0.2.2 2001:db8::1]"},
		"v6.test":     {addrs: "[2001:db8::6]"},
		"alias.test":  {addrs: "[192.0.2.3]"},
		"half.test":   {addrs: "[192.0.2.4]"},
		"big.test":    {addrs: "[192.0.2.5]"}, // cut over UDP, whole over TCP
		"stray.test":  {addrs: "[]", err: ErrNoSuchHost},
		"loop.test":   {addrs: "[]", err: ErrNoSuchHost},
		"gone.test":   {addrs: "[]", err: ErrNoSuchHost},
		"broken.test": {addrs: "[]", err: ErrServer},
		"other.test":  {addrs: "[]", err: ErrServer},
		"cut.test":    {addrs: "[]", err: ErrServer}, // cut over TCP too: it does not say that there is none
		"few.test":    {addrs: "[192.0.2.9]"},        // cut, and TCP is shut
		"plain.test":  {addrs: "[192.0.2.10]"},       // knows no EDNS
	} {
		addrs, err := c.Lookup(t.Context(), host)
		if got := fmt.Sprint(addrs); got != tc.addrs || !errors.Is(err, tc.err) {
			t.Errorf("Lookup(%s) = %s, %v, want %s, %v", host, got, err, tc.addrs, tc.err)
		}
	}
}

func TestTimeToLiveIsTheShortestOnTheWay(t *testing.T) {
	w := newNameServers([]string{testZone().start(t)}, nil)
	for host, want := range map[string]string{"both.test": "30s", "alias.test": "5s", "half.test": "1m0s"} {
		if _, ttl, err := w.Resolve(t.Context(), host); err != nil || ttl.String() != want {
			t.Errorf("%s: ttl %v, %v, want %s", host, ttl, err, want)
		}
	}
}

func TestSearchListServesSingleLabelsOnly(t *testing.T) {
	z := testZone()
	_, port, _ := net.SplitHostPort(z.start(t))
	path := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(path, []byte("nameserver 127.0.0.1\nsearch none.test corp.test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	cfg.HostsFile, cfg.ResolvConf = "", path
	src, err := newSource(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := src.(*nameServers)
	w.servers[0] = net.JoinHostPort("127.0.0.1", port) // resolv.conf has no ports
	if addrs, _, err := w.Resolve(t.Context(), "web"); err != nil || fmt.Sprint(addrs) != "[192.0.2.8]" {
		t.Errorf("web = %v, %v, want the address of web.corp.test", addrs, err)
	}
	z.take()
	if _, _, err := w.Resolve(t.Context(), "a.b"); !errors.Is(err, ErrNoSuchHost) {
		t.Errorf("a.b = %v, want ErrNoSuchHost", err)
	}
	for _, q := range z.take() {
		if !strings.HasPrefix(q, "a.b. ") {
			t.Errorf("asked for %s", q)
		}
	}
}

func TestSecondServerAnswersForTheFirst(t *testing.T) {
	broken := &zone{rcode: map[string]int{"half.test.": dns.RcodeRefused}}
	w := newNameServers([]string{broken.start(t), testZone().start(t)}, nil)
	if addrs, _, err := w.Resolve(t.Context(), "half.test"); err != nil || len(addrs) != 1 {
		t.Errorf("resolve = %v, %v", addrs, err)
	}
}

func TestFailuresOfNameServersAreWorded(t *testing.T) {
	up := testZone().start(t)
	for host, want := range map[string]string{
		"broken.test": "the name server " + up + " answered SERVFAIL",
		"other.test":  "the name server " + up + " answered another question",
		"cut.test":    "the name server " + up + " cut its answer short, also over TCP",
	} {
		_, _, err := newNameServers([]string{up}, nil).Resolve(t.Context(), host)
		var e *Error
		if !errors.As(err, &e) || e.Detail != want {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	w := newNameServers([]string{silent.LocalAddr().String()}, nil)
	w.udp.Timeout = 50 * time.Millisecond
	_, _, err = w.Resolve(t.Context(), "both.test")
	want := "the name server " + silent.LocalAddr().String() + " did not answer in time"
	var e *Error
	if !errors.As(err, &e) || e.Detail != want {
		t.Errorf("silent: %v, want %q", err, want)
	}
}
