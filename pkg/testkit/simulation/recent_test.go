package simulation_test

import (
	"flag"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/simulation"
)

var recentNodes = flag.String("sim.recent", "3",
	"clusters of so many nodes, with and without a cache before the claims")

// popular is a web in which four of five links to other hosts lead to well-known pages: what a cache of recent URLs
// answers of real ones (Broder, Najork, Wiener 2003).
func popular(cfg simulation.Config, recent int) simulation.Config {
	cfg.Popular, cfg.Recent = 800, recent
	return cfg
}

// claimsOf measures the messages a page of a cluster.
func claimsOf(t *testing.T, cfg simulation.Config) (f simulation.Figures) {
	synctest.Test(t, func(t *testing.T) {
		c := started(t, cfg)
		defer c.Stop()
		time.Sleep(*warm)
		f = c.Measure(*measure)
	})
	t.Logf("%d nodes, %d bits: %.2f claims and %.2f messages a page, %.1f requests/s a node, brokers busy %.2f %%",
		cfg.Nodes, cfg.Recent, f.Claims,
		f.Messages, f.Rate(), 100*f.Busy)
	return f
}

func TestRecentURLsAreNotSent(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of CPU time")
	}
	for s := range strings.SplitSeq(*recentNodes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		before, after := claimsOf(t, popular(config(n), 0)), claimsOf(t, popular(config(n), 16))
		if after.Claims > .8*before.Claims {
			t.Errorf("%d nodes: %.2f claims a page with the cache, %.2f without", n, after.Claims, before.Claims)
		}
	}
}

func TestNothingIsLostByWhatIsNotSentWhateverHappensToNodes(t *testing.T) {
	for name, cfg := range map[string]simulation.Config{"popular": popular(troubled(), 12), "sparse": sparse()} {
		t.Run(name, func(t *testing.T) {
			if v := trouble(t, cfg); !v.Sound() {
				t.Errorf("%+v", v)
			}
		})
	}
}

// sparse is a web of hosts with a page or two, each of which hardly anybody links to: who loses a link loses the page.
func sparse() simulation.Config {
	cfg := troubled()
	cfg.HostsANode, cfg.URLsANode, cfg.MaxHost = 400, 400, 2
	cfg.Links, cfg.Outside, cfg.OutsideHosts = 4, 3, 3
	cfg.Recent = 16
	return cfg
}

// TestNegativeControlOfWhatIsNotConfirmed: what was sent to a node that died is not claimed.
func TestNegativeControlOfWhatIsNotConfirmed(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := sparse()
	cfg.Broken.Unconfirmed = true
	if v := trouble(t, cfg); v.Lost == 0 {
		t.Error("nothing was lost though splitters believe that what they sent is claimed")
	}
}
