package ring

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestKeysOfPartitions(t *testing.T) {
	ctx := context.Background()
	addresses := func(_ context.Context, host string) (netip.Addr, error) {
		if host != "www.example.co.uk" {
			return netip.Addr{}, errors.New("no such host " + host)
		}
		return netip.MustParseAddr("::ffff:192.0.2.7"), nil
	}
	for _, c := range []struct {
		p         Partition
		url, want string
	}{
		{ByHost, "http://www.example.co.uk:8080/a?b", "www.example.co.uk:8080"},
		{ByHost, "https://www.example.co.uk/a?b", "www.example.co.uk"},
		{ByDomain, "http://www.example.co.uk:8080/a?b", "example.co.uk"},
		{ByIP, "http://www.example.co.uk:8080/a?b", "192.0.2.7"},
		{ByIP, "http://198.51.100.1/", "198.51.100.1"},
		{ByIP, "http://[2001:db8::1]:81/", "2001:db8::1"},
		{ByURL, "http://www.example.co.uk:8080/a?b", "http://www.example.co.uk:8080/a?b"},
	} {
		u, err := weburl.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.p.Key(ctx, u, addresses); got != c.want || err != nil {
			t.Errorf("%s of %s is %q, %v; want %q", c.p, c.url, got, err, c.want)
		}
		if back, err := ParsePartition(c.p.String()); back != c.p || err != nil {
			t.Errorf("%s reads as %s, %v", c.p, back, err)
		}
	}
	u, _ := weburl.Parse("http://nowhere.test/")
	if _, err := ByIP.Key(ctx, u, addresses); err == nil {
		t.Error("a host without address has a key")
	}
	if _, err := ByIP.Key(ctx, u, nil); !errors.Is(err, ErrNoAddresses) {
		t.Errorf("without addresses: %v", err)
	}
	if _, err := ParsePartition("hosts"); err == nil {
		t.Error("hosts is a partition")
	}
}

func TestTheDelayGrowsWithTheNodesWhenURLsOfAHostAreSpread(t *testing.T) {
	for p, want := range map[Partition]time.Duration{ByHost: time.Second, ByDomain: time.Second, ByIP: time.Second,
		ByURL: 3 * time.Second} {
		r := Must(Create(100, p, 1))
		if r.Delay(time.Second) != time.Second {
			t.Errorf("%s: %v without a node", p, r.Delay(time.Second))
		}
		for i, name := range []string{"a", "b", "c"} {
			r = Must(r.Join(node(name, Unit, uint64(i+1))))
		}
		r = Must(settled(t, r).Drain("b")) // it may lease until it has heard of it
		if got := r.Delay(time.Second); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}
