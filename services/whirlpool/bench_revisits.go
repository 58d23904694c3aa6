package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/localbench"
)

func benchRevisits() *cobra.Command {
	pages, visits, dir := count(1e6), count(1e6), ""
	cmd := &cobra.Command{
		Use: "revisits", Short: "Pages a second and memory of the store of what is visited again and when", Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			return inTemp(dir, func(dir string) error {
				return localbench.Revisits(cmd.Context(), dir, int64(pages), int64(visits), cmd.OutOrStdout())
			})
		}),
	}
	cmd.Flags().Var(&pages, "pages", "pages to remember")
	cmd.Flags().Var(&visits, "visits", "visits to measure")
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the store (default: a temporary one)")
	return cmd
}
