package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func newDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete JOB --cluster[=FILE]",
		Short: "Delete a job of a cluster, with all that it found",
		Long: `Delete removes a job: its queues, its URLs and their outcomes, its log, its fingerprints and its records. What
is under way of it is finished and thrown away. What is known of hosts and their robots.txt files stays: other jobs need
it.

A job that runs is refused unless it was stopped before, or --force is given. An interrupted deletion goes on when it is
repeated. The id may be used again; nothing of the former job gets into the new one.`,
		Example: `  whirlpool stop --cluster --job example-com
  whirlpool delete example-com --cluster`,
		Args: cobra.ExactArgs(1),
	}
	ref := clusterOnly(cmd, "delete removes a job of a cluster: say which with --cluster or --cluster=node.yml; "+
		"the crawl of a directory goes with the directory")
	force := cmd.Flags().Bool("force", false, "delete it although it runs")
	cmd.RunE = ref.serve(func(cmd *cobra.Command, args []string, s control.Service) error {
		d, err := s.Delete(cmd.Context(), crawl.JobID(args[0]), *force)
		if err != nil {
			return err
		}
		return tellDeleted(cmd.OutOrStdout(), d)
	})
	return cmd
}

// tellDeleted says what was deleted.
func tellDeleted(w io.Writer, d *control.Deleted) error {
	parts := append(make([]string, 0, 1+len(d.Erased)), fmt.Sprintf("%d records", d.Records))
	if d.Records < 0 {
		parts[0] = "its records"
	}
	for _, e := range d.Erased {
		parts = append(parts, fmt.Sprintf("%d %s", e.N, e.What))
	}
	_, err := fmt.Fprintf(w, "job %s deleted: %s\n", d.Job, strings.Join(parts, ", "))
	return err
}
