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

var (
	nodes   = flag.String("sim.nodes", "1,10", "clusters of so many nodes")
	hosts   = flag.Int("sim.hosts", 0, "hosts a node; 0: the default")
	window  = flag.Int("sim.window", 0, "fetches at once a node; 0: the default")
	warm    = flag.Duration("sim.warm", 20*time.Second, "virtual time before the figures are taken")
	measure = flag.Duration("sim.measure", 20*time.Second, "virtual time of the figures")
)

func config(n int) simulation.Config {
	cfg := simulation.Default()
	cfg.Nodes = n
	if *hosts > 0 {
		cfg.URLsANode = cfg.URLsANode / cfg.HostsANode * *hosts
		cfg.HostsANode = *hosts
	}
	if *window > 0 {
		cfg.Window = *window
	}
	return cfg
}

// measured runs a cluster and takes its figures. Small ones are run several times, with other webs: their figures vary.
func measured(t *testing.T, n int) simulation.Figures {
	var runs []simulation.Figures
	seeds := max(10/n, 1)
	if testing.Short() {
		seeds = min(seeds, 2)
	}
	for seed := range seeds {
		cfg := config(n)
		cfg.Seed = uint64(seed + 1)
		began := time.Now()
		synctest.Test(t, func(t *testing.T) {
			c := started(t, cfg)
			time.Sleep(*warm)
			f := c.Measure(*measure)
			f.Memory = c.Memory()
			runs = append(runs, f)
		})
		runs[len(runs)-1].Wall = time.Since(began)
	}
	return simulation.Mean(runs)
}

// started returns a cluster that has its seeds.
func started(t *testing.T, cfg simulation.Config) *simulation.Cluster {
	c, err := simulation.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThroughputGrowsLinearlyWithTheNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	var all []simulation.Figures
	for s := range strings.SplitSeq(*nodes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, measured(t, n))
	}
	for _, f := range all {
		if linear := f.Rate() / all[0].Rate(); linear < 0.95 {
			t.Errorf("%d nodes: %.3f of linear", f.Nodes, linear)
		}
	}
	var out strings.Builder
	simulation.Report(&out, all)
	t.Log("\n" + out.String())
}
