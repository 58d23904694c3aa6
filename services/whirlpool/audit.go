package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/inspect"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Prove from the stores that no URL was lost",
		Long: `Audit compares the stores of a crawl with each other: every URL that was discovered is queued, in flight, done or left out,
and in one of these only; what is stored of the pages is what was fetched; the counters are right.

Of a directory it reads the state of one moment, also while the crawl runs.

Of a cluster's job it walks through the ledger and the fingerprints in PostgreSQL and the records in MongoDB side by side, and compares the
open URLs of all jobs with the tasks in the frontier's queues and the messages under way. Of a job that has finished, or is paused with
nothing under way, all of it is proven; while messages move, it says what is not.

The exit status is 1 when something is wrong.`,
		Example: `  whirlpool audit -o crawl-example.com
  whirlpool audit --json
  whirlpool audit --cluster=node.yml --job example-com`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	audit := func(cmd *cobra.Command, v inspect.View) (bad bool, err error) {
		r, err := v.Audit(cmd.Context())
		if err != nil {
			return false, err
		}
		write := inspect.WriteAudit
		if *asJSON {
			write = func(w io.Writer, r *crawl.AuditReport) error { return inspect.WriteJSON(w, r) }
		}
		return len(r.Faults) > 0, write(cmd.OutOrStdout(), r)
	}
	cmd.RunE = ref.over(func(cmd *cobra.Command, _ []string, d *directory) error {
		bad, err := audit(cmd, d)
		if err == nil && bad {
			err = fmt.Errorf("%s is not sound: copy the directory before anything else, and report this output; the pages that "+
				"pages.jsonl holds are good, and --fresh starts over", d.dir)
		}
		return err
	}, func(cmd *cobra.Command, _ []string, j *clusterJob) error {
		bad, err := audit(cmd, j)
		if err == nil && bad {
			err = fmt.Errorf("job %s is not sound: report this output; the records that are stored are good, and `whirlpool seed` "+
				"under another --job starts over", j.Info.ID)
		}
		return err
	})
	return cmd
}
