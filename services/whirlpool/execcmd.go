package main

import (
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func newExec() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec",
		Short: "Look after the executions of a server",
		Long: `Exec is about the executions of a server of "whirlpool serve": each run of a workflow is one, and its id is the
workflow's slug with a number.

"whirlpool status", "explain", "audit", "export" and "log" look into an execution with --server and --job.`,
		Example: "  whirlpool exec list\n  whirlpool exec watch postings-1 && whirlpool export --server " +
			"http://127.0.0.1:8711 --job postings-1 pages.csv",
	}
	cmd.AddCommand(newExecList(), newExecWatch(), newExecEvents(), newExecLogs(), newExecDelete(), newExecEdit(),
		newExecPreview(), newExecRevisions(), newExecUndo())
	for _, w := range [][2]string{{"pause", "Finish what is in flight and lease nothing more"},
		{"resume", "Resume an execution, also one that has ended"},
		{"stop", "Finish what is in flight, make the results, end; it can be resumed"},
		{"cancel", "End an execution without results"}} {
		cmd.AddCommand(newExecWish(w[0], w[1]))
	}
	return cmd
}

func newExecList() *cobra.Command {
	cmd := &cobra.Command{Use: "list [WORKFLOW]", Short: "List executions, the newest first", Args: cobra.MaximumNArgs(1)}
	most := cmd.Flags().IntP("limit", "n", 50, "how many at most; 0: all")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		of := ""
		if len(args) > 0 {
			of = args[0]
		}
		list, err := c.Executions(cmd.Context(), of, *most)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no executions yet: `whirlpool workflow run WORKFLOW` starts one",
			"EXECUTION\tSTATE\tPAGES\tCREATED\tENDED\tREASON", func(e workflow.Execution) string {
				pages := "-"
				if e.Stats != nil {
					pages = fmt.Sprint(e.Stats.Pages)
				}
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", e.ID, e.State, pages, timeText(e.Created), timeText(e.Ended), e.Reason)
			})
	})
}

func newExecWish(verb, short string) *cobra.Command {
	cmd := &cobra.Command{Use: verb + " EXECUTION", Short: short, Args: cobra.ExactArgs(1)}
	reason := cmd.Flags().StringP("message", "m", "", "why, for whoever looks at it later")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		e, err := c.Wish(cmd.Context(), crawl.JobID(args[0]), verb, *reason)
		if err == nil {
			cmd.Printf("%s is %s, and is to %s\n", e.ID, e.State, e.Desired)
		}
		return err
	})
}

func newExecEvents() *cobra.Command {
	cmd := &cobra.Command{Use: "events EXECUTION", Short: "List what happened to an execution", Args: cobra.ExactArgs(1)}
	follow := cmd.Flags().BoolP("follow", "f", false, "keep printing what happens from now on, until Ctrl-C")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		id := crawl.JobID(args[0])
		last, err := pastEvents(cmd, c, id, *format)
		if err != nil || !*follow {
			return err
		}
		return futureEvents(cmd, c, id, last, *format)
	})
}

func newExecLogs() *cobra.Command {
	cmd := &cobra.Command{Use: "logs EXECUTION", Short: "Show the last lines of an execution's crawl.log",
		Args: cobra.ExactArgs(1)}
	most := cmd.Flags().IntP("limit", "n", 50, "how many lines; 0: all")
	verdict := cmd.Flags().String("verdict", "", "only lines with this verdict, such as failed")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		q := url.Values{"execution": {args[0]}, "source": {"crawl"}}
		if *verdict != "" {
			q.Set("verdict", *verdict)
		}
		lines, err := c.Logs(cmd.Context(), q, *most)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, lines, "no lines", "TIME\tVERDICT\tSTATUS\tURL\tMESSAGE",
			func(l explore.LogLine) string {
				return fmt.Sprintf("%s\t%s\t%d\t%s\t%s", timeText(l.At), l.Verdict, l.Status, l.URL, l.Message)
			})
	})
}

func newExecDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete EXECUTION", Short: "Delete an execution that has ended, with all that it found",
		Args: cobra.ExactArgs(1)}
	keep := cmd.Flags().Bool("keep-records", false, "keep its records and log")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		err := c.Delete(cmd.Context(), crawl.JobID(args[0]), *keep)
		if err == nil {
			cmd.Printf("%s is deleted\n", args[0])
		}
		return err
	})
}

// copyOut copies what a server sends, and says so where it broke off.
func copyOut(w io.Writer, from io.ReadCloser) error {
	defer from.Close()
	if _, err := io.Copy(w, from); err != nil {
		return fmt.Errorf("the server broke off: %w: what was written is not whole", err)
	}
	return nil
}
