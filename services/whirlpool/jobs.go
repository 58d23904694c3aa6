package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// jobLine is a job in the list.
type jobLine struct {
	ID      crawl.JobID `json:"job"`
	State   string      `json:"state"` // deleting besides those of postgres.JobState
	Pages   int64       `json:"pages"`
	Open    int64       `json:"open"`
	Created time.Time   `json:"created"`
	Epoch   uint32      `json:"epoch"`           // of the settings that apply
	Fault   string      `json:"fault,omitempty"` // why its settings cannot be read
}

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "jobs --cluster[=FILE]",
		Short:   "List the jobs of a cluster",
		Long:    "Jobs lists the jobs of a cluster, the oldest first: state, pages, open URLs, when it was submitted, and the number of the settings that apply.",
		Example: "  whirlpool jobs --cluster=node.yml\n  whirlpool jobs --cluster --json | jq -r .[].job",
		Args:    cobra.NoArgs,
	}
	ref := clusterFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if !ref.asked() {
			return usage("jobs lists the jobs of a cluster: say which with --cluster or --cluster=node.yml")
		}
		c, err := ref.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.close()
		lines, err := c.jobs(cmd.Context())
		switch {
		case err != nil:
			return err
		case *asJSON:
			return json.NewEncoder(cmd.OutOrStdout()).Encode(lines)
		}
		return writeJobs(cmd.OutOrStdout(), lines)
	})
	return cmd
}

// jobs lists the jobs.
func (c *cluster) jobs(ctx context.Context) ([]jobLine, error) {
	all, err := c.postgres.Jobs().List(ctx)
	if err != nil {
		return nil, err
	}
	lines := []jobLine{}
	for _, j := range all {
		if j.Job == nil && j.Fault == nil && j.Deleted.IsZero() { // nobody submitted it
			continue
		}
		line := jobLine{ID: j.ID, State: string(j.State), Created: j.Created}
		tally, err := c.postgres.URLs().Tally(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		line.Pages, line.Open = tally.Pages, tally.Claimed
		for _, n := range tally.Verdicts {
			line.Open -= n
		}
		if j.Job != nil {
			line.Epoch = j.Job.Epoch
		}
		if j.Fault != nil {
			line.Fault = j.Fault.Error()
		}
		if !j.Deleted.IsZero() {
			line.State = "deleting"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func writeJobs(w io.Writer, lines []jobLine) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "no jobs yet: `whirlpool seed` gives the cluster one")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "JOB\tSTATE\tPAGES\tOPEN\tCREATED\tSETTINGS")
	for _, l := range lines {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\t%d%s\n", l.ID, l.State, l.Pages, l.Open, l.Created.Local().Format(time.DateTime), l.Epoch, faultText(l.Fault))
	}
	return tw.Flush()
}

func faultText(fault string) string {
	if fault == "" {
		return ""
	}
	return " (" + fault + ")"
}
