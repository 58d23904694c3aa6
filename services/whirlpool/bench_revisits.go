package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/localbench"
)

func benchRevisits() *cobra.Command {
	pages, visits, dir, url := count(1e6), count(1e6), "", ""
	cmd := &cobra.Command{
		Use: "revisits", Short: "Pages a second and memory of the store of what is visited again and when",
		Args: cobra.NoArgs, RunE: failing(func(cmd *cobra.Command, _ []string) error {
			if url != "" {
				return benchRevisitsIn(cmd, url, int64(pages), int64(visits))
			}
			return inTemp(dir, func(dir string) error {
				return localbench.Revisits(cmd.Context(), dir, int64(pages), int64(visits), cmd.OutOrStdout())
			})
		}),
	}
	cmd.Flags().Var(&pages, "pages", "pages to remember")
	cmd.Flags().Var(&visits, "visits", "visits to measure")
	cmd.Flags().StringVar(&url, "postgres", "",
		"URL of a database of its own to measure, which is migrated and left as it is then")
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the store (default: a temporary one)")
	return cmd
}

// benchRevisitsIn measures the store of a cluster.
func benchRevisitsIn(cmd *cobra.Command, url string, pages, visits int64) error {
	cfg := postgres.Default()
	cfg.URL = url
	s, err := postgres.Open(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	return localbench.RevisitsIn(cmd.Context(), s.Revisits(), pages, visits, cmd.OutOrStdout())
}
