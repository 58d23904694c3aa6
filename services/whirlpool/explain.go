package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain URL",
		Short: "Tell why a URL was fetched, or was not",
		Long: `Explain follows a URL through the crawler's decisions, a step a line:

  canonical  the form under which the crawl knows it, and the rules that made it
  rules      scope, patterns, blacklist, depth and traps, as the job has them now
  robots     the rule of robots.txt that decides, with its line
  ledger     unknown, open (queued or in flight), done with its outcome, or excluded with the reason
  log        the attempts, with the page that linked to it (in a directory it reads crawl.log: about 1 s a gigabyte)
  content    what is stored of it, or of which page it is a copy
  render     what a browser made of it, and what the test of its kind of pages says
  host       last contact, and when the next request may be made
  answer     all of it in a sentence

It works while the crawl runs, too. The exit status is 0 whatever became of the URL.`,
		Example: `  whirlpool explain -o crawl-example.com https://example.com/private/
  whirlpool explain --json 'https://example.com/?q=1' | jq -r .answer
  whirlpool explain --cluster --job example-com https://example.com/`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	ref := refFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	explain := ref.overView(func(cmd *cobra.Command, args []string, v report.View) error {
		e, err := v.Explain(cmd.Context(), args[0])
		switch {
		case errors.Is(err, report.ErrURL):
			return exitStatus{exitUsage, err}
		case err != nil:
			return err
		case *asJSON:
			return report.WriteJSON(cmd.OutOrStdout(), e)
		}
		return e.WriteText(cmd.OutOrStdout())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := report.ParseURL(args[0]); err != nil {
			return exitStatus{exitUsage, err}
		}
		return explain(cmd, args)
	}
	return cmd
}
