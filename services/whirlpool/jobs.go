package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
)

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs --cluster[=FILE]",
		Short: "List the jobs of a cluster",
		Long: "Jobs lists the jobs of a cluster, the oldest first: state, pages, open URLs, when it was submitted, and " +
			"the number of the settings that apply.",
		Example: "  whirlpool jobs --cluster=node.yml\n  whirlpool jobs --cluster --json | jq -r .[].job",
		Args:    cobra.NoArgs,
	}
	ref := clusterOnly(cmd, "jobs lists the jobs of a cluster: say which with --cluster or --cluster=node.yml; of a "+
		"server: --server")
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = ref.serve(func(cmd *cobra.Command, _ []string, s control.Service) error {
		lines, err := s.List(cmd.Context())
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

func writeJobs(w io.Writer, lines []control.Listed) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "no jobs yet: `whirlpool seed` gives the cluster one")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "JOB\tSTATE\tPAGES\tOPEN\tCREATED\tSETTINGS")
	for _, l := range lines {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\t%d%s\n", l.ID, l.State, l.Pages, l.Open, l.Created.Local().Format(time.DateTime),
			l.Epoch, faultText(l.Fault))
	}
	return tw.Flush()
}

func faultText(fault string) string {
	if fault == "" {
		return ""
	}
	return " (" + fault + ")"
}
