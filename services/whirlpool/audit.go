package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/inspect"
	"github.com/whirlpool-crawler/whirlpool/pkg/local"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Prove from the stores that no URL was lost",
		Long: `Audit compares the stores of a crawl with each other: every URL that was discovered is queued, in flight, done or left out,
and in one of these only; pages.jsonl holds what its index says; the counters are right.

It reads the state of one moment, also while the crawl runs. The exit status is 1 when something is wrong.`,
		Example: `  whirlpool audit -o crawl-example.com
  whirlpool audit --json`,
		Args: cobra.NoArgs,
	}
	out := dirFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = withDirectory(out, func(cmd *cobra.Command, _ []string, d *directory) error {
		r, err := d.Audit(cmd.Context())
		if err != nil {
			return err
		}
		write := inspect.WriteAudit
		if *asJSON {
			write = func(w io.Writer, r *local.AuditReport) error { return inspect.WriteJSON(w, r) }
		}
		if err := write(cmd.OutOrStdout(), r); err != nil {
			return err
		}
		if len(r.Faults) > 0 {
			return fmt.Errorf("%s is not sound: copy the directory before anything else, and report this output; the pages that "+
				"pages.jsonl holds are good, and --fresh starts over", d.dir)
		}
		return nil
	})
	return cmd
}
