package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/topicbench"
)

func benchTopicLive() *cobra.Command {
	live := topicbench.Live{Begin: topicbench.Beginnings()}
	var named []string
	var picture string
	cmd := &cobra.Command{
		Use:   "topic-live DIR",
		Short: "Topical crawls of documentation: pages about a topic among the first, beside breadth first",
		Long: `Serves the documentation that lies in a directory as Debian's packages bring it (python3.11-doc,
postgresql-doc-15, linux-doc-6.1 and libboost1.74-doc, all in /usr/share/doc), each package on an address of the
loopback, and crawls it with the engine of whirlpool crawl: breadth first, without a topic, and with five examples of
each topic. What a page is about is told by its path, which no model sees; examples are not counted. Nothing but the
loopback is contacted.`,
		Example: `  whirlpool bench topic-live /usr/share/doc --picture topical.svg`,
		Args:    cobra.ExactArgs(1),
		PreRunE: counts("pages", "draws"),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			topics, err := topicsOf(named)
			if err != nil {
				return err
			}
			live.Dir, live.Out = args[0], cmd.OutOrStdout()
			fmt.Fprintf(live.Out, "whirlpool bench topic-live %s --pages %d --draws %d --delay %v\n", args[0], live.Pages,
				live.Draws, live.Delay)
			drawn, err := live.Run(cmd.Context(), topics)
			if err != nil || picture == "" {
				return err
			}
			svg := topicbench.Picture(drawn, []topicbench.Order{topicbench.Breadth, topicbench.Plain, topicbench.LiveBest},
				live.Pages)
			return os.WriteFile(picture, svg, 0o644) //nolint:gosec // a picture for everybody
		}),
	}
	cmd.Flags().IntVar(&live.Pages, "pages", 250, "pages of each crawl that count")
	cmd.Flags().IntVar(&live.Draws, "draws", 3, "draws of examples; figures are their means")
	cmd.Flags().DurationVar(&live.Delay, "delay", 20*time.Millisecond, "time between two requests to a host")
	cmd.Flags().StringSliceVar(&live.Begin, "begin", live.Begin,
		"pages where documentation begins, each on a host of its own")
	cmd.Flags().StringVar(&picture, "picture", "", "`file` for a picture (SVG)")
	cmd.Flags().StringArrayVar(&named, "topic", nil,
		"a topic, and a regular expression of the paths that are about it: `NAME=PATTERN`")
	return cmd
}
