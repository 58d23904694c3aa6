package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/revisitbench"
)

// leastSimulated is how many pages and days a simulation has at least: smaller ones show nothing.
const leastSimulated = 40

func benchRevisit() *cobra.Command {
	size := revisitbench.Size{Pages: 2000, Days: 200, Seeds: 5}
	cmd := &cobra.Command{
		Use: "revisit [SCENARIO…]",
		Short: "How much of the Web stays fresh: the revisit policy beside the proven optimum, uniform visits and Nutch's " +
			"rule",
		Long: `Simulates crawls that never end over pages that change by themselves, and prints the part of the second half of
the time in which the copies were what the pages said. "of bound" compares that with the best plan of one that knows all
rates; where changes do not come at random, or sitemaps tell of them, that is a figure to compare with and no bound. The
same seeds give the same table.`,
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if size.Pages < leastSimulated || size.Days < leastSimulated {
				return usage("--pages %d --days %d: want at least %d of each", size.Pages, size.Days, leastSimulated)
			}
			return counts("seeds")(cmd, args)
		},
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			tables := revisitbench.Tables(size)
			for _, name := range args {
				if !slices.ContainsFunc(tables, func(t revisitbench.Table) bool { return t.Name == name }) {
					return usage("no scenario %q", name)
				}
			}
			if len(args) > 0 {
				tables = slices.DeleteFunc(tables, func(t revisitbench.Table) bool { return !slices.Contains(args, t.Name) })
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "whirlpool bench revisit --pages %d --days %d --seeds %d", size.Pages, size.Days, size.Seeds)
			for _, name := range args {
				fmt.Fprintf(out, " %q", name)
			}
			fmt.Fprintln(out)
			return revisitbench.Print(cmd.Context(), out, tables, size.Seeds)
		}),
	}
	cmd.Flags().IntVar(&size.Pages, "pages", size.Pages, "pages of the simulated web")
	cmd.Flags().IntVar(&size.Days, "days", size.Days, "simulated days")
	cmd.Flags().IntVar(&size.Seeds, "seeds", size.Seeds, "webs that each figure is the mean of")
	return cmd
}
