package revisit_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/revisitbench"
)

// The figures of docs/design/freshness.md, with small webs: what `whirlpool bench revisit` prints with large ones.
const (
	simPages, simDays, simSeeds = 1000, 150, 2
)

func simulate(t *testing.T, c revisitbench.Config, policy string) revisitbench.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("ten seconds of arithmetic in all")
	}
	r, spread, err := revisitbench.Mean(c, policy, simSeeds)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%-12s %-32s %.4f, %.3f of %.4f (spread %.3f), %.1f visits a day", c.Name, policy, r.Fresh, r.Fresh/r.Bound,
		r.Bound, spread, r.PerDay)
	if r.PerDay < .98*c.Visits*float64(c.Pages) || r.PerDay > 1.02*c.Visits*float64(c.Pages) {
		t.Errorf("%s: %.1f visits a day, want %.1f", policy, r.PerDay, c.Visits*float64(c.Pages))
	}
	return r
}

func part(r revisitbench.Result) float64 { return r.Fresh / r.Bound }

// The learned rates reach .95 of the proven optimum, and the true ones nearly all of it.
func TestSimReachesTheBound(t *testing.T) {
	for _, c := range []revisitbench.Config{
		revisitbench.Basic("open", simPages, simDays), revisitbench.Capped("capped", simPages, simDays)} {
		ours, truth := simulate(t, c, revisitbench.Whirlpool), simulate(t, c, revisitbench.True)
		if part(ours) < .955 {
			t.Errorf("%s: %.3f of the bound, want .955", c.Name, part(ours))
		}
		if part(truth) < .98 || part(truth) > 1.015 {
			t.Errorf("%s: true rates reach %.3f of the bound: the bound or the schedule is wrong", c.Name, part(truth))
		}
		for _, other := range []string{revisitbench.Uniform, revisitbench.Nutch} {
			if o := simulate(t, c, other); ours.Fresh < o.Fresh+.01 {
				t.Errorf("%s: %s keeps %.4f fresh, ours %.4f", c.Name, other, o.Fresh, ours.Fresh)
			}
		}
	}
}

// Hosts are visited no more than they allow, and a host at its cap must go first.
func TestSimCapsAreKept(t *testing.T) {
	c := revisitbench.Capped("capped", simPages, simDays)
	ours, inOrder := simulate(t, c, revisitbench.Whirlpool), simulate(t, c, revisitbench.InOrder)
	allowed := c.Cap * c.Visits * float64(c.Pages)
	for _, r := range []revisitbench.Result{ours, inOrder} {
		if r.Most > 1+1.25/allowed {
			t.Errorf("%s: a host had %.2f times its visits in a day", r.Policy, r.Most)
		}
	}
	if ours.Fresh < inOrder.Fresh+.002 {
		t.Errorf("in the order of due times %.4f is fresh, with capped hosts first %.4f", inOrder.Fresh, ours.Fresh)
	}
}

func TestSimWeightsAndBursts(t *testing.T) {
	c := revisitbench.Capped("pareto", simPages, simDays)
	c.Pareto = 1.2
	if ours, even := simulate(t, c, revisitbench.Whirlpool),
		simulate(t, c, revisitbench.Uniform); ours.Fresh < even.Fresh+.06 {
		t.Errorf("Pareto weights: %.4f, uniform %.4f", ours.Fresh, even.Fresh)
	}
	c = revisitbench.Capped("bursty", simPages, simDays)
	c.Habit = revisitbench.Bursty
	if ours, truth := simulate(t, c, revisitbench.Whirlpool),
		simulate(t, c, revisitbench.True); ours.Fresh < truth.Fresh+.005 {
		t.Errorf("bursts: %.4f, true mean rates %.4f", ours.Fresh, truth.Fresh)
	}
}

// Signals are worth something even where half of them is wrong and half of the changes has none.
func TestSimSignals(t *testing.T) {
	last := 0.
	for _, q := range []float64{.5, 1} {
		c := revisitbench.Capped("signals", simPages, simDays)
		c.Precision, c.Recall = q, q
		with, without := simulate(t, c, revisitbench.Told), simulate(t, c, revisitbench.Whirlpool)
		if gain := with.Fresh - without.Fresh; gain < last+.015 {
			t.Errorf("precision and recall %g: %.4f with signals, %.4f without", q, with.Fresh, without.Fresh)
		} else {
			last = gain
		}
	}
}

// The hours at which a host changes are worth something where there are any, and cost nothing where there are none.
func TestSimHours(t *testing.T) {
	c := revisitbench.Basic("hours", simPages/4, simDays/3)
	c.Visits, c.Median = 1, 1
	if with, without := simulate(t, c, revisitbench.Cycled),
		simulate(t, c, revisitbench.Whirlpool); with.Fresh < without.Fresh-.01 {
		t.Errorf("no hours: %.4f with a cycle, %.4f without", with.Fresh, without.Fresh)
	}
	c.Habit = revisitbench.Daily
	if with, without := simulate(t, c, revisitbench.Cycled),
		simulate(t, c, revisitbench.Whirlpool); with.Fresh < without.Fresh+.03 {
		t.Errorf("hours: %.4f with a cycle, %.4f without", with.Fresh, without.Fresh)
	}
}

func TestSimDiscovery(t *testing.T) {
	fresh := map[float64]float64{}
	for _, share := range []float64{.1, .3, .9} {
		c := revisitbench.Basic("discovery", simPages, simDays)
		c.Backlog, c.Growth, c.Discovery = .5, .01, share
		fresh[share] = simulate(t, c, revisitbench.Whirlpool).Fresh
	}
	if fresh[.3] < fresh[.9]-.01 || fresh[.3] < fresh[.1] {
		t.Errorf("freshness by the share of discovery: %v", fresh)
	}
}

func TestSimIsTheSameBySeed(t *testing.T) {
	c := revisitbench.Capped("capped", 300, 50)
	one, err := revisitbench.Run(c, revisitbench.Told)
	if two, _ := revisitbench.Run(c, revisitbench.Told); one != two || err != nil {
		t.Errorf("%+v and %+v, %v", one, two, err)
	}
	if c.Seed++; one.Fresh == simulate(t, c, revisitbench.Told).Fresh {
		t.Error("another seed made the same")
	}
	if _, err := revisitbench.Run(c, "guess"); err == nil {
		t.Error("an unknown policy was simulated")
	}
}
