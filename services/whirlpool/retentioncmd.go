package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func newWorkflowRetention() *cobra.Command {
	var r crawl.Retention
	cmd := &cobra.Command{
		Use:   "retention WORKFLOW",
		Short: "Say which old executions a rule of retention would delete, and delete nothing",
		Long: `Retention lists the executions of a workflow that lifecycle.retention of its current version deletes at the end
of an execution and once an hour. With --executions, --days and --records it lists what such a rule would delete: try
one before you write it into the definition.`,
		Example: "  whirlpool workflow retention shop\n  whirlpool workflow retention shop --executions 10 --records drop",
		Args:    cobra.ExactArgs(1),
	}
	fl := cmd.Flags()
	fl.IntVar(&r.Executions, "executions", 0, "keep the last `N`")
	fl.IntVar(&r.Days, "days", 0, "keep those that ended in the last `N` days")
	fl.StringVar(&r.Records, "records", "", "keep or drop: whether records and log go as well")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		if r == (crawl.Retention{}) {
			var err error
			if r, err = retentionOf(cmd.Context(), c, args[0]); err != nil {
				return err
			}
		}
		if r.Executions < 0 || r.Days < 0 || r.Records != "" && r.Records != crawl.RecordsKeep &&
			r.Records != crawl.RecordsDrop {
			return usage("--executions and --days: want 0 or more; --records: keep or drop")
		}
		all, err := c.Executions(cmd.Context(), args[0], 0)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, workflow.WouldExpire(r, all, time.Now()), "nothing would be deleted",
			"EXECUTION\tENDED\tDELETES\tWHY", func(e workflow.Expiring) string {
				what := "crawl state"
				if e.All {
					what = "all"
				}
				return fmt.Sprintf("%s\t%s\t%s\t%s", e.Execution, timeText(e.Ended), what, e.Why)
			})
	})
}

// retentionOf is the rule of a workflow's current version.
func retentionOf(ctx context.Context, c *client.Client, id string) (crawl.Retention, error) {
	w, err := c.Workflow(ctx, id)
	if err != nil {
		return crawl.Retention{}, err
	}
	v, err := c.Version(ctx, w.Slug, w.Current)
	if err != nil {
		return crawl.Retention{}, err
	}
	var job struct {
		Lifecycle struct{ Retention crawl.Retention }
	}
	err = json.Unmarshal(v.Definition, &job)
	return job.Lifecycle.Retention, err
}
