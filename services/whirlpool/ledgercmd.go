package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func newLedger() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Move the ledger of a cluster to other PostgreSQL servers",
		Long: `The ledger, the URLs of all jobs and their outcomes, is on the main PostgreSQL server of a cluster, or on
several servers, which postgres.ledger names. Other stores are not moved.`,
	}
	cmd.AddCommand(newLedgerMove())
	return cmd
}

func newLedgerMove() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move --to URL [--to URL]... | --to-main | --cancel",
		Short: "Move the ledger to other servers, while no program runs",
		Long: `Move brings the ledger to the servers that --to names, in their order, or back to the main server alone
(--to-main). The configuration of the node (postgres.ledger) says where it is. Servers may be new, empty databases or
present ones. They are reached with the password of the configuration.

Stop the programs of all nodes first, and back up all servers. While the ledger is being moved no program starts. If
the command is interrupted, run it again with the same configuration and the same servers: it goes on where it was.
The present servers keep all their rows until everything has been copied and compared. Then the new list counts, and
the rows that were moved are deleted where they were.

--cancel gives a move up that was interrupted, as long as the new list does not count: a new server may be lost, say.
The ledger stays where it was. What was copied to new servers is left there; make their databases anew.

At the end it prints what postgres.ledger must say on all nodes before their programs start.`,
		Example: `  whirlpool ledger move --to postgres://whirlpool@db2/ledger --to postgres://whirlpool@db3/ledger --cluster
  whirlpool ledger move --to-main --cluster=node.yml
  whirlpool ledger move --cancel --cluster`,
		Args: cobra.NoArgs,
	}
	ref := clusterFlag(cmd)
	to := cmd.Flags().StringArray("to", nil, "`URL` of a server of the new list; once for each, in their order")
	home := cmd.Flags().Bool("to-main", false, "to the main server (postgres.url) alone")
	cancel := cmd.Flags().Bool("cancel", false, "give up the move that was interrupted")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if !ref.asked() {
			return usage("a ledger is a cluster's: say which with --cluster or --cluster=node.yml")
		}
		given := slices.DeleteFunc([]bool{len(*to) > 0, *home, *cancel}, func(yes bool) bool { return !yes })
		if len(given) != 1 {
			return usage("give --to for each of the servers, or --to-main, or --cancel")
		}
		cfg, err := ref.config()
		if err != nil {
			return err
		}
		if *cancel {
			return postgres.CancelMove(cmd.Context(), moveConfig(cmd, cfg), func(line string) { cmd.Println(line) })
		}
		return moveLedger(cmd, cfg, *to)
	})
	return cmd
}

// moveConfig says where the ledger is. Errors alone are logged: the command tells the rest.
func moveConfig(cmd *cobra.Command, cfg *process.Config) postgres.Config {
	pg := node.PostgresConfig(cfg)
	pg.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	return pg
}

func moveLedger(cmd *cobra.Command, cfg *process.Config, to []string) error {
	urls, shown := make([]string, 0, len(to)), make([]string, 0, len(to))
	for _, u := range to {
		at := process.URL(u).With("", cfg.Postgres.Password)
		urls, shown = append(urls, at.Reveal()), append(shown, process.URL(u).String())
	}
	err := postgres.MoveLedger(cmd.Context(), moveConfig(cmd, cfg), urls, func(line string) { cmd.Println(line) })
	if err != nil {
		return err
	}
	must := "be " + strings.Join(shown, ",")
	if len(shown) == 0 {
		must = "not be set"
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Before the programs start, on all nodes: POSTGRES_LEDGER (postgres.ledger) must %s\n",
		must)
	return err
}
