package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func newRingForget() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Delete stored ring state after ZooKeeper data was lost",
		Long: `Forget deletes what PostgreSQL has stored about a ring whose data in ZooKeeper was lost or deleted. PostgreSQL
refuses writes under an older ring table than the newest one it knows. A new ring starts at epoch 1, so PostgreSQL would
refuse the writes of all its nodes.

Stop the programs of all nodes first: it does nothing while one is connected. No URL, page or host is changed.`,
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
		pg := node.PostgresConfig(cfg)
		pg.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
		// Without a limit: where the schema is of an older version this migrates it first, which may take long.
		store, err := postgres.Open(cmd.Context(), pg)
		if err != nil {
			return err
		}
		defer store.Close()
		running, err := store.Members().Connected(cmd.Context(), append(crawl.StageNames(), "node")...)
		if err == nil && len(running) > 0 { // they would go on, and nothing of what they write would be accepted
			err = fmt.Errorf("programs are connected to PostgreSQL: %s. Stop those of all nodes first",
				strings.Join(running, ", "))
		}
		if err == nil {
			err = store.Members().Reset(cmd.Context())
		}
		if err != nil {
			return err
		}
		cmd.Println("the stored ring state is deleted: start the programs, and the first node makes a new ring")
		return nil
	})
	return cmd
}
