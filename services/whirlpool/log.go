package main

import (
	"bufio"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// logFlags say which lines are meant.
type logFlags struct{ verdicts, reasons []string }

// verdictsOfLog are what a line may say of a URL.
var verdictsOfLog = []crawl.Verdict{crawl.VerdictDone, crawl.VerdictRetry, crawl.VerdictGone, crawl.VerdictBlocked, crawl.VerdictRefused,
	crawl.VerdictFailed, crawl.VerdictExcluded, crawl.VerdictInterrupted}

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the attempts and the URLs that were left out, with the reasons",
		Long: `Log prints the lines of crawl.log, of a directory or of a cluster's job: one for each attempt and each URL that was left out, in
the order in which they were written. It works while the crawl runs: then it prints what there is so far.

With --verdict and --reason it prints the lines that have one of the verdicts and one of the reasons. "whirlpool status --reasons" counts
them.`,
		Example: `  whirlpool log --cluster --job example-com --verdict excluded,refused,failed,blocked,gone
  whirlpool log --cluster --reason private-address | jq -r .url
  whirlpool log -o crawl-example.com --verdict retry`,
		Args: cobra.NoArgs,
	}
	ref, f := refFlags(cmd), &logFlags{}
	names := make([]string, len(verdictsOfLog))
	for i, v := range verdictsOfLog {
		names[i] = v.String()
	}
	cmd.Flags().StringSliceVar(&f.verdicts, "verdict", nil, "only lines with one of these: "+strings.Join(names, ", "))
	cmd.Flags().StringSliceVar(&f.reasons, "reason", nil, "only lines with one of these reasons, such as scope or timeout")
	_ = cmd.RegisterFlagCompletionFunc("verdict", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		verdicts, err := f.parsed()
		if err != nil {
			return err
		}
		return ref.serve(func(cmd *cobra.Command, _ []string, s control.Service) error {
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
			meant := control.Selection{Verdicts: verdicts, Reasons: f.reasons}
			err := s.Events(cmd.Context(), crawl.JobID(ref.job), meant, func(line []byte) error {
				_, err := out.Write(line)
				return err
			})
			return errors.Join(err, out.Flush())
		})(cmd, args)
	})
	return cmd
}

func (f *logFlags) parsed() (out []crawl.Verdict, err error) {
	for _, name := range f.verdicts {
		i := slices.IndexFunc(verdictsOfLog, func(v crawl.Verdict) bool { return v.String() == name })
		if i < 0 {
			return nil, usage("--verdict %q: a line says none of that; see whirlpool log --help", name)
		}
		out = append(out, verdictsOfLog[i])
	}
	return out, nil
}
