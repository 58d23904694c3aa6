package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/inspect"
)

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far a crawl is",
		Long: `Status tells what a crawl does at the moment, running or not: pages, queues, outcomes by verdict and status code, URLs
left out by reason, dead letters, and the size of the outputs.

A crawl is running, paused, stopped (there is work left: the same crawl command goes on) or finished.`,
		Example: `  whirlpool status -o crawl-example.com
  whirlpool status --json | jq .excluded
  watch whirlpool status`,
		Args: cobra.NoArgs,
	}
	out := dirFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = withDirectory(out, func(cmd *cobra.Command, _ []string, d *directory) error {
		s, err := d.Status(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return inspect.WriteJSON(cmd.OutOrStdout(), s)
		}
		return s.WriteText(cmd.OutOrStdout())
	})
	return cmd
}
