package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

const statusHelp = `Status tells what a crawl does at the moment, running or not: pages, queues, outcomes by verdict and
status code, URLs left out by reason, dead letters, and the size of the outputs; where pages were rendered, what that
brought by their templates.

A crawl is running, paused, stopped (there is work left: the same crawl command goes on, or "whirlpool resume" on a
cluster) or finished.

Of a cluster it shows every job in a line, and the pipeline: what waits in each queue, is being handled (unacked) or
failed and waits for another try, messages a second in and out, the frontier's tasks, the programs that are connected.
With --job it shows one job as it shows a crawl in a directory. Rates are those of a second (pages) and of the broker's
last statistics (messages).

With --wait it prints a line of progress now and then until the crawl, the job or all jobs have finished. The exit
status is then 0, and 3 where one was stopped.`

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far a crawl is",
		Long:  statusHelp,
		Example: `  whirlpool status -o crawl-example.com
  whirlpool status --json | jq .excluded
  whirlpool status --cluster=node.yml
  whirlpool status --cluster --job example-com --reasons
  whirlpool status --cluster --job example-com --wait`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	why := cmd.Flags().Bool("reasons", false,
		"count outcomes and URLs left out by verdict and reason (reads the whole job, or crawl.log)")
	wait := cmd.Flags().Bool("wait", false, "wait until it has finished, with a line of progress now and then")
	cmd.RunE = ref.overCluster(func(cmd *cobra.Command, _ []string, d *directory.Directory) error {
		s, err := d.Status(cmd.Context())
		if err == nil && *why {
			s.Reasons, err = reasonsOf(cmd.Context(), d.Dir)
		}
		return show(cmd, s, *asJSON, err)
	}, func(cmd *cobra.Command, _ []string, c *cluster.Cluster) error {
		s, err := clusterStatus(cmd.Context(), c, crawl.JobID(ref.job), *why)
		return showPart(cmd, s, *asJSON, err)
	})
	cmd.RunE = ref.overServer(func(cmd *cobra.Command, _ []string, c *client.Client, id crawl.JobID) error {
		if *wait || *why {
			return usage("of a server, `whirlpool exec watch` waits, and the studio counts reasons: leave --wait and " +
				"--reasons out")
		}
		s, err := c.View(id).Status(cmd.Context())
		return show(cmd, s, *asJSON, err)
	}, failing(ref.waitFirst(wait, cmd.RunE)))
	return cmd
}

// text is an answer for people.
type text interface{ WriteText(w io.Writer) error }

// show prints an answer, unless err says that there is none.
func show(cmd *cobra.Command, s text, asJSON bool, err error) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return report.WriteJSON(cmd.OutOrStdout(), s)
	}
	return s.WriteText(cmd.OutOrStdout())
}

// showPart prints for people what is known of an answer that has an error.
func showPart(cmd *cobra.Command, s text, asJSON bool, err error) error {
	if err == nil || asJSON || s == nil {
		return show(cmd, s, asJSON, err)
	}
	return errors.Join(s.WriteText(cmd.OutOrStdout()), err)
}

// clusterStatus is that of a job, or of the whole cluster where none is named. Reasons are a job's. With an error it is
// what the stores say, where the brokers cannot be asked.
func clusterStatus(ctx context.Context, c *cluster.Cluster, id crawl.JobID, why bool) (text, error) {
	if id != "" || why {
		j, err := c.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		s, err := j.Status(ctx)
		if s == nil {
			return nil, err
		}
		if why {
			reasons, e := jobReasons(ctx, j)
			s.Reasons, err = reasons, errors.Join(err, e)
		}
		return s, err
	}
	view, err := c.View()
	if err != nil {
		return nil, err
	}
	s, err := view.Status(ctx)
	if s == nil {
		return nil, err
	}
	return s, err
}
