package main

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// A crawl that asks nobody says for whom it waits: for the host that may be asked first, unless that is soon.
func TestWhomACrawlWaitsFor(t *testing.T) {
	now := time.Now()
	at := func(key string, wait time.Duration) frontier.HostNow {
		return frontier.HostNow{Key: key, Next: now.Add(wait), Text: "it failed 2 times in a row"}
	}
	for name, c := range map[string]struct {
		hosts []frontier.HostNow
		want  string
	}{
		"nobody":          {},
		"nobody can tell": {hosts: []frontier.HostNow{{Key: "a.test"}}},
		"the delay":       {hosts: []frontier.HostNow{at("a.test", time.Second), at("b.test", time.Hour)}},
		"the first of two": {[]frontier.HostNow{at("a.test", time.Hour), at("b.test", time.Minute)},
			"waits 1m0s for b.test: it failed 2 times in a row"},
	} {
		if got := waitsFor(c.hosts, now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
