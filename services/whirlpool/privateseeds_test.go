package main

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// What name servers say of a seed does not matter where --resolve has its addresses.
func TestSeedsThatAreResolvedByHand(t *testing.T) {
	n := &crawl.Network{Resolve: []string{"a.test:80:93.184.216.34", "*:8443:93.184.216.34"}}
	for seed, want := range map[string]bool{"http://a.test/": true, "http://a.test:80/x": true, "https://a.test/": false,
		"http://b.test/": false, "https://b.test:8443/": true} {
		u, err := weburl.Parse(seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := isResolved(n, u); got != want {
			t.Errorf("%s: %v, want %v", seed, got, want)
		}
	}
}
