package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/ringbench"
)

func benchRing() *cobra.Command {
	cfg := ringbench.Default()
	hosts, urls := count(cfg.Hosts), count(cfg.URLs)
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Look-up, balance, movement and table size of the ring, the cost of splitting a page, for 1 to 1,000 nodes",
		Long: `Builds rings of nodes that joined one after the other, and lays hosts over them whose sizes follow Zipf's law.
It shows what a look-up costs beside its hash alone; the fullest node beside the mean; what a node that joins, leaves or
dies moves beside its ideal part; and how large the table is, which ZooKeeper limits to 1 MB.`,
		Args: cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, args []string) error {
			for _, n := range cfg.Nodes {
				if n < 1 {
					return usage("--nodes %d: want at least 1", n)
				}
			}
			return counts("per-unit", "budget")(cmd, args)
		},
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			cfg.Hosts, cfg.URLs = int(hosts), int(urls)
			_, err := ringbench.Run(cmd.OutOrStdout(), cfg)
			return err
		}),
	}
	cmd.Flags().IntSliceVar(&cfg.Nodes, "nodes", cfg.Nodes, "sizes of clusters")
	cmd.Flags().Var(&hosts, "hosts", "hosts of the web")
	cmd.Flags().Var(&urls, "urls", "URLs of all hosts")
	cmd.Flags().IntVar(&cfg.PerUnit, "per-unit", cfg.PerUnit, "virtual nodes a node")
	cmd.Flags().IntVar(&cfg.Budget, "budget", cfg.Budget, "URLs a host, at most, for the last column of the balance")
	return cmd
}
