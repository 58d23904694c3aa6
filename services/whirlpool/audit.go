package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

const auditHelp = `Audit compares the stores of a crawl with each other: every URL that was discovered is queued, in
flight, done or left out, and in one of these only; what is stored of the pages is what was fetched; the counters are
right.

Of a directory it reads the state of one moment, also while the crawl runs.

Of a cluster's job it walks through the ledger and the fingerprints in PostgreSQL and the records in MongoDB side by
side, and asks the frontiers of all nodes for each open URL: what is in no queue, no message and no dead letter is lost,
and named. Of a job that has finished, or is paused with nothing under way, all of it is proven; while messages move, it
says what is not.

The exit status is 0 when all of it is proven, 1 when something is wrong, and 3 when something could not be proven: the
crawl runs, a frontier or a broker does not answer, or a dead letter cannot be read. ` +
	"`whirlpool repair`" + ` puts right what is wrong.`

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Prove from the stores that no URL was lost",
		Long:  auditHelp,
		Example: `  whirlpool audit -o crawl-example.com
  whirlpool audit --json
  whirlpool audit --cluster=node.yml --job example-com`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = ref.over(func(cmd *cobra.Command, _ []string, d *directory.Directory) error {
		r, err := d.Audit(cmd.Context())
		if err == nil {
			err = auditArchives(cmd.Context(), d.Dir, r)
		}
		if err == nil {
			err = auditBodies(cmd.Context(), d.Dir, r)
		}
		if err != nil {
			return err
		}
		return judged(cmd, r, *asJSON,
			fmt.Sprintf("%s is not sound: copy the directory before anything else; `whirlpool repair -o %s` puts right what "+
				"is wrong, and --fresh starts over", d.Dir, d.Dir))
	}, func(cmd *cobra.Command, _ []string, j *cluster.Job) error {
		r, err := j.Audit(cmd.Context())
		if err != nil {
			return err
		}
		return judged(cmd, r, *asJSON,
			fmt.Sprintf("job %s is not sound: keep this output; `whirlpool repair --cluster --job %s` puts right what is wrong",
				j.Info.ID, j.Info.ID))
	})
	cmd.RunE = ref.overServer(func(cmd *cobra.Command, _ []string, c *client.Client, id crawl.JobID) error {
		r, err := c.View(id).Audit(cmd.Context())
		if err != nil {
			return err
		}
		return judged(cmd, r, *asJSON,
			fmt.Sprintf("execution %s is not sound: keep this output, and copy the server's directory before anything else", id))
	}, cmd.RunE)
	return cmd
}

// judged prints what an audit found, and makes its verdict the exit status. wrong is what to say of a crawl that is not
// sound.
func judged(cmd *cobra.Command, r *crawl.AuditReport, asJSON bool, wrong string) error {
	write := report.WriteAudit
	if asJSON {
		write = func(w io.Writer, r *crawl.AuditReport) error { return report.WriteJSON(w, r) }
	}
	if err := write(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	switch doubts := r.Doubts(); {
	case len(r.Faults) > 0:
		return errors.New(wrong)
	case len(doubts) > 0:
		return exitStatus{exitUnproven,
			fmt.Errorf("nothing wrong was found, but not everything could be proven: %s", doubts[0])}
	}
	return nil
}
