package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func newDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete JOB --cluster[=FILE]",
		Short: "Delete a job of a cluster, with all that it found",
		Long: `Delete removes a job: its queues, its URLs and their outcomes, its log, its fingerprints and its records. What is under way of it is finished and thrown
away. What is known of hosts and their robots.txt files stays: other jobs need it.

A job that runs is refused unless it was stopped before, or --force is given. An interrupted deletion goes on when it is repeated. The id may be used
again; nothing of the former job gets into the new one.`,
		Example: `  whirlpool stop --cluster --job example-com
  whirlpool delete example-com --cluster`,
		Args: cobra.ExactArgs(1),
	}
	ref := clusterFlag(cmd)
	force := cmd.Flags().Bool("force", false, "delete it although it runs")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if !ref.asked() {
			return usage("delete removes a job of a cluster: say which with --cluster or --cluster=node.yml; the crawl of a directory goes with the directory")
		}
		c, err := ref.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.close()
		return c.delete(cmd.Context(), cmd.OutOrStdout(), crawl.JobID(args[0]), *force)
	})
	return cmd
}

// letGo is how long programs may work with what they knew of a job before it was deleted: they look again within
// postgres.Config.JobExpiry, and finish what they have in hand.
const letGo = 2 * specExpiry

// deleteIfKnown deletes a job, if there is one.
func (c *cluster) deleteIfKnown(ctx context.Context, w io.Writer, id crawl.JobID) error {
	known, err := c.postgres.Jobs().List(ctx)
	if err != nil || !slices.ContainsFunc(known, func(j postgres.JobInfo) bool { return j.ID == id }) {
		return err
	}
	return c.delete(ctx, w, id, true)
}

// delete deletes a job, or goes on with that.
func (c *cluster) delete(ctx context.Context, w io.Writer, id crawl.JobID, force bool) error {
	jobs := c.postgres.Jobs()
	info, err := jobs.Info(ctx, id)
	if err != nil && info.ID == "" {
		return err
	}
	if info.State == postgres.JobRunning && info.Deleted.IsZero() && !force {
		return usage("job %s is running: `whirlpool stop --cluster --job %s` stops it; --force deletes it as it is", id, id)
	}
	age, err := jobs.BeginDelete(ctx, id)
	if err != nil {
		return err
	}
	if wait := letGo - age; wait > 0 {
		if err := waitFor(ctx, wait); err != nil {
			return err
		}
	}
	records, err := c.mongo.Drop(ctx, id)
	if err != nil {
		return err
	}
	erased, err := jobs.Erase(ctx, id)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "job %s deleted: %s\n", id, erasedText(records, erased))
	return err
}

// erasedText says what was deleted.
func erasedText(records int64, erased []postgres.Erased) string {
	parts := append(make([]string, 0, 1+len(erased)), fmt.Sprintf("%d records", records))
	if records < 0 {
		parts[0] = "its records"
	}
	for _, e := range erased {
		parts = append(parts, fmt.Sprintf("%d rows of %s", e.Rows, e.Table))
	}
	return strings.Join(parts, ", ")
}
