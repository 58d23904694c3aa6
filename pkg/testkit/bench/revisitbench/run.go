package revisitbench

import (
	"context"
	"fmt"
	"io"
)

// Size is how large the simulations of a table are.
type Size struct {
	Pages, Days, Seeds int
}

// Table is a scenario and the policies that are compared in it.
type Table struct {
	Config
	About    string
	Policies []string
}

// Tables are the scenarios that docs/design/freshness.md shows.
func Tables(s Size) []Table {
	all := []Table{
		{Basic("open", s.Pages, s.Days), "changes at random, no caps",
			[]string{Uniform, Nutch, True, Naive, AtMean, AtMeanFade, Thompson, Expected, Whirlpool, ByHost}},
		{Capped("capped", s.Pages, s.Days), "a host takes 2 % of the visits at most",
			[]string{Uniform, Nutch, True, TrueInOrder, TrueIdle, Naive, AtMean, AtMeanIdle, AtMeanInOrder, AtMeanFade, Thompson,
				Expected, Idle, InOrder, Whirlpool, ByHost}},
		{Capped("early", s.Pages, s.Days*3/10), "capped, less than a third of the time: what is not learned yet",
			[]string{Uniform, AtMeanIdle, AtMeanFade, Whirlpool, ByHost}},
	}
	bursty := Capped("bursty", s.Pages, s.Days)
	bursty.Habit = Bursty
	all = append(all, Table{bursty, "capped, ten days of changes after forty of silence",
		[]string{Uniform, Nutch, True, AtMeanFade, Thompson, Expected, Whirlpool}})
	pareto := Capped("pareto", s.Pages, s.Days)
	pareto.Pareto = 1.2
	all = append(all, Table{pareto, "capped, weights by Pareto's law with exponent 1.2",
		[]string{Uniform, Nutch, True, AtMeanFade, Whirlpool}})
	return append(append(append(all, hours(s)...), signals(s)...), discovery(s)...)
}

// hours are news sites: a page changes once a day at the median.
func hours(s Size) (all []Table) {
	for _, visits := range []float64{1, 2, 4} {
		for _, habit := range []Habit{Daily, Poisson} {
			c := Basic(fmt.Sprintf("%s %g", map[Habit]string{Daily: "hours", Poisson: "no hours"}[habit], visits), s.Pages/4,
				s.Days*3/10)
			c.Habit, c.Visits, c.Median = habit, visits, 1
			about, policies := "changes in eight hours of the day, others on each host",
				[]string{Uniform, Nutch, True, Whirlpool, Cycled}
			if habit == Poisson {
				about, policies = "the same without hours", []string{Whirlpool, Cycled}
			}
			all = append(all, Table{c, fmt.Sprintf("%s, %g visits a page and day", about, visits), policies})
		}
	}
	return all
}

func signals(s Size) (all []Table) {
	for _, precision := range []float64{.5, .75, 1} {
		for _, recall := range []float64{.5, .75, 1} {
			c := Capped(fmt.Sprintf("signals %g/%g", precision, recall), s.Pages, s.Days)
			c.Precision, c.Recall = precision, recall
			all = append(all, Table{c, fmt.Sprintf("capped, sitemaps with precision %g and recall %g, read once a day",
				precision, recall),
				[]string{Whirlpool, Told}})
		}
	}
	return all
}

func discovery(s Size) (all []Table) {
	for _, share := range []float64{.1, .3, .5, .9} {
		c := Basic(fmt.Sprintf("discovery %g", share), s.Pages, s.Days)
		c.Backlog, c.Growth, c.Discovery = .5, .01, share
		all = append(all, Table{c, fmt.Sprintf(
			"half of the pages and 1 %% a day are new, with %g of the visits while both wait", share),
			[]string{Uniform, Whirlpool}})
	}
	return all
}

// Print simulates tables and prints the means over their seeds.
func Print(ctx context.Context, out io.Writer, tables []Table, seeds int) error {
	for _, t := range tables {
		fmt.Fprintf(out, "\n%s: %s; %d pages, %d days\n%-36s %9s %9s %9s %9s\n", t.Name, t.About, t.Pages, t.Days, "",
			"fresh", "of bound", "spread", "visits/d")
		for _, name := range t.Policies {
			if err := ctx.Err(); err != nil {
				return err
			}
			m, spread, err := Mean(t.Config, name, seeds)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%-36s %9.4f %9.3f %9.3f %9.1f\n", name, m.Fresh, m.Fresh/m.Bound, spread, m.PerDay)
		}
	}
	return nil
}

// Mean is the mean of a simulation over the seeds 1 to seeds, and the distance between the greatest and the least part
// of the bound. Most is the greatest.
func Mean(c Config, name string, seeds int) (m Result, spread float64, err error) {
	m.Policy = name
	least, greatest := 10., 0.
	for s := range seeds {
		c.Seed = uint64(s + 1)
		r, err := Run(c, name)
		if err != nil {
			return m, 0, err
		}
		m.Fresh += r.Fresh / float64(seeds)
		m.Bound += r.Bound / float64(seeds)
		m.PerDay += r.PerDay / float64(seeds)
		m.Most = max(m.Most, r.Most)
		least, greatest = min(least, r.Fresh/r.Bound), max(greatest, r.Fresh/r.Bound)
	}
	return m, greatest - least, nil
}
