package ringbench_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/ringbench"
)

// The promises of the ring, on small clusters: `whirlpool bench ring` shows them up to a thousand nodes.
func TestSmallClustersKeepThePromisesOfTheRing(t *testing.T) {
	cfg := ringbench.Default()
	cfg.Nodes, cfg.Hosts, cfg.URLs = []int{3, 20}, 20_000, 1_000_000
	var out bytes.Buffer
	all, err := ringbench.Run(&out, cfg)
	if err != nil || len(all) != 2 || strings.Count(out.String(), "\n") < 8 {
		t.Fatalf("%d results, %v\n%s", len(all), err, out.String())
	}
	for _, r := range all {
		if r.VnodesOver > 1.01 || r.HostsOver > 1.15 || r.URLsOver < r.BudgetOver {
			t.Errorf("%d nodes: balance %+v", r.Nodes, r)
		}
		for what, moved := range map[string]float64{"join": r.Join, "leave": r.Leave, "death": r.Death} {
			if moved < 0.8 || moved > 1.2 {
				t.Errorf("%d nodes: a %s moves %.3f of the ideal", r.Nodes, what, moved)
			}
		}
		if r.Others != 0 || r.Settled == 0 || r.Moving == 0 || r.Churned == 0 || r.Lookup <= 0 {
			t.Errorf("%+v", r)
		}
	}
}
