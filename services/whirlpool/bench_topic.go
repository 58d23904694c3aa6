package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/topicbench"
)

func benchTopic() *cobra.Command {
	var named []string
	var picture string
	var heldOut bool
	cmd := &cobra.Command{
		Use:   "topic DIR|FILE",
		Short: "Topical crawling on stored pages: pages about a topic among the first, best first and breadth first",
		Long: `Reads the pages.jsonl of a crawl, takes what they are about from their paths, and crawls them again over the
links that they have, with five examples of each topic: breadth first, and best first by what a model says of the page
that links to them. Beside it stand how well models tell the topic, by their number of examples, and what a page costs.
Models see titles and texts, and no URLs; pages for training and pages for tests are kept apart.`,
		Example: `  whirlpool bench topic docs --topic 'networking=/(socket|http|networking)'`,
		Args:    cobra.ExactArgs(1),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			topics, err := topicsOf(named)
			if err != nil {
				return err
			}
			if heldOut {
				topics = topicbench.HeldOut()
			}
			return measureTopics(cmd, args[0], topics, picture)
		}),
	}
	cmd.Flags().BoolVar(&heldOut, "held-out", false, "topics on which nothing was tuned")
	cmd.Flags().StringVar(&picture, "picture", "", "`file` for a picture of the first figures (SVG)")
	cmd.Flags().StringArrayVar(&named, "topic", nil,
		"a topic, and a regular expression of the URLs that are about it: `NAME=PATTERN`")
	return cmd
}

// measureTopics measures over the pages of a crawl, and draws a picture where a file for it is named.
func measureTopics(cmd *cobra.Command, from string, topics []topicbench.Topic, picture string) error {
	file := from
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "pages.jsonl")
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := topicbench.Load(cmd.Context(), f)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "whirlpool bench topic %s\n", from)
	drawn, err := topicbench.Print(cmd.Context(), cmd.OutOrStdout(), w, topics)
	if err != nil || picture == "" {
		return err
	}
	svg := topicbench.Picture(drawn, []topicbench.Order{topicbench.Breadth, topicbench.Classes, topicbench.Best},
		topicbench.Marks[0])
	return os.WriteFile(picture, svg, 0o644) //nolint:gosec // a picture for everybody
}

// topicsOf are the topics that are named; where none is, those of the documentation.
func topicsOf(named []string) (topics []topicbench.Topic, err error) {
	if len(named) == 0 {
		return topicbench.Topics(), nil
	}
	for _, n := range named {
		name, pattern, ok := strings.Cut(n, "=")
		re, err := regexp.Compile(pattern)
		if !ok || err != nil {
			return nil, usage("--topic %q: want NAME=PATTERN, a regular expression over lower-case URLs", n)
		}
		topics = append(topics, topicbench.Topic{Name: name, Paths: re})
	}
	return topics, nil
}
