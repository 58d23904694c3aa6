package crawl

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestNamedServers(t *testing.T) {
	j := DefaultJob()
	j.Network.Resolve = []string{"a.test:443:192.0.2.1", "*:80:192.0.2.2", "A.test:443:192.0.2.3,2001:db8::1", "no entry"}
	for raw, want := range map[string]struct {
		addrs string
		rules string
	}{
		"https://a.test/x":      {"192.0.2.3 2001:db8::1", "https://a.test#192.0.2.3,2001:db8::1"},
		"http://a.test/":        {"192.0.2.2", "http://a.test#192.0.2.2"},
		"http://b.test:80/":     {"192.0.2.2", "http://b.test#192.0.2.2"},
		"https://b.test/":       {"", "https://b.test"},
		"https://a.test:8443/y": {"", "https://a.test:8443"},
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		var addrs []netip.Addr
		for _, text := range strings.Fields(want.addrs) {
			addrs = append(addrs, netip.MustParseAddr(text))
		}
		if got := j.Network.Named(u); !slices.Equal(got, addrs) {
			t.Errorf("%s: named %v, want %v", raw, got, addrs)
		}
		rules := j.RulesOf(u)
		if rules != want.rules || OriginOf(rules) != u.Origin() {
			t.Errorf("%s: rules of %s, want %s", raw, rules, want.rules)
		}
		if name, err := weburl.Parse(rules); err != nil || name.HostKey() != u.HostKey() {
			t.Errorf("%s: the name %s of its rules has another host: %v", raw, rules, err)
		}
	}
}
