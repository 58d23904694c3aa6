package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/postgresbench"
)

// benchPostgres is a benchmark of PostgreSQL at growing sizes of its tables.
func benchPostgres(use, short string,
	measure func(ctx context.Context, server string, sizes []int64, w io.Writer) error) *cobra.Command {
	var server string
	most := count(10_000_000)
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Long: short +
			", at 10^5, 10^6 … rows up to --n. It makes a database of its own on the server and drops it in the end. With " +
			"10^7 rows that takes minutes and gigabytes.",
		Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			if server == "" {
				server = os.Getenv("WHIRLPOOL_POSTGRES_URL") // not the flag's default: help would print the password
			}
			if server == "" {
				return usage("bench %s needs the URL of a PostgreSQL server on which it may make a database: --server or "+
					"WHIRLPOOL_POSTGRES_URL", use)
			}
			var sizes []int64
			for n := int64(100_000); n < int64(most); n *= 10 {
				sizes = append(sizes, n)
			}
			return measure(cmd.Context(), server, append(sizes, int64(most)), cmd.OutOrStdout())
		}),
	}
	cmd.Flags().StringVar(&server, "server", "",
		"URL of the server, with user and password (default: WHIRLPOOL_POSTGRES_URL)")
	cmd.Flags().Var(&most, "n", "rows at the end")
	return cmd
}

func benchPostgresClaims() *cobra.Command {
	return benchPostgres("postgres-claims", "Claimed URLs a second in PostgreSQL", postgresbench.Claims)
}

func benchPostgresSearch() *cobra.Command {
	return benchPostgres("postgres-search", "Indexed pages a second and searches in PostgreSQL", postgresbench.Search)
}

func benchPostgresRing() *cobra.Command {
	return benchPostgres("postgres-ring", "What a ring of nodes costs in PostgreSQL", postgresbench.Ring)
}

func benchPostgresRecovery() *cobra.Command {
	return benchPostgres("postgres-recovery", "What a node reads of the ledger that takes over a part of the ring",
		postgresbench.Recovery)
}

func benchPostgresNear() *cobra.Command {
	return benchPostgres("postgres-near", "Look-ups of near-duplicates in PostgreSQL", postgresbench.Lookups)
}
