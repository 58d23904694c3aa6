package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func newRingForget() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Let PostgreSQL forget a ring that is no more",
		Long: `Forget is for a ring that was lost with ZooKeeper's data, or deleted. PostgreSQL refuses what nodes write under an older table than the newest it
has heard of; a ring that is made anew counts from the beginning, so that all of its nodes would be refused. Stop the programs of all nodes first.
No URL, page or host is touched.`,
		Args: cobra.NoArgs,
	}
	ref := clusterFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if !ref.asked() {
			return usage("a ring is a cluster's: say which with --cluster or --cluster=node.yml")
		}
		cfg, err := ref.config()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), cluster.RingTime)
		defer cancel()
		pg := node.PostgresConfig(cfg)
		pg.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
		store, err := postgres.Open(ctx, pg)
		if err != nil {
			return err
		}
		defer store.Close()
		if err := store.Members().Reset(ctx); err != nil {
			return err
		}
		cmd.Println("PostgreSQL has forgotten the ring: nodes of the next one count from the beginning")
		return nil
	})
	return cmd
}
