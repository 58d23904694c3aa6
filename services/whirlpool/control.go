package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// newControls returns the commands that change the course of a crawl that runs.
func newControls() []*cobra.Command {
	return []*cobra.Command{
		newOrder(control.Pause, "Let a running crawl finish what is in flight and lease nothing more",
			"Pause keeps the crawl's process alive, but no further request begins until `whirlpool resume`. Of a cluster's "+
				"job, too, what is under way is finished and nothing more is leased; other jobs go on."),
		newOrder(control.Resume, "Resume a paused crawl",
			"Resume undoes `whirlpool pause`, and on a cluster `whirlpool stop`."),
		newOrder(control.Stop, "Stop a running crawl as Ctrl-C does",
			"Stop lets the crawl finish what is in flight, at most 30 s, and end. The same `whirlpool crawl` resumes it. "+
				"A cluster's job keeps its queues, and `whirlpool resume` resumes it."),
	}
}

func newOrder(o control.Order, short, long string) *cobra.Command {
	name := string(o)
	cmd := &cobra.Command{Use: name, Short: short, Long: long, Args: cobra.NoArgs,
		Example: "  whirlpool " + name + " -o crawl-example.com\n  whirlpool " + name + " --cluster --job example-com"}
	ref := refFlags(cmd)
	cmd.RunE = ref.serve(func(cmd *cobra.Command, _ []string, s control.Service) error {
		done, err := s.Order(cmd.Context(), crawl.JobID(ref.job), o)
		if err == nil {
			cmd.Println(done.Text)
		}
		return err
	})
	return cmd
}
