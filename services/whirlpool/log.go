package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
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
		if err == nil {
			err = ref.check()
		}
		if err != nil {
			return err
		}
		if ref.cluster.asked() {
			return ref.over(nil, func(cmd *cobra.Command, _ []string, j *clusterJob) error { return f.cluster(cmd, j, verdicts) })(cmd, args)
		}
		dir, err := crawlDir(ref.out)
		if err != nil {
			return err
		}
		return f.directory(cmd.Context(), cmd.OutOrStdout(), dir, verdicts)
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

// cluster prints the lines of a job.
func (f *logFlags) cluster(cmd *cobra.Command, j *clusterJob, verdicts []crawl.Verdict) error {
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	var line []byte
	err := j.c.postgres.AttemptLog().Lines(cmd.Context(), j.Info.ID, verdicts, f.reasons, func(l *crawl.LogLine) error {
		line = jsonl.AppendLogLine(line[:0], l)
		_, err := out.Write(line)
		return err
	})
	return errors.Join(err, out.Flush())
}

// directory prints the lines of crawl.log that are meant.
func (f *logFlags) directory(ctx context.Context, w io.Writer, dir string, verdicts []crawl.Verdict) error {
	out := bufio.NewWriterSize(w, 64<<10)
	err := logLines(ctx, dir, func(l *crawl.LogLine, raw []byte) error {
		if len(verdicts) > 0 && !slices.Contains(verdicts, l.Verdict) || len(f.reasons) > 0 && !slices.Contains(f.reasons, l.Reason) {
			return nil
		}
		_, err := out.Write(append(raw, '\n'))
		return err
	})
	return errors.Join(err, out.Flush())
}

// maxLogLine bounds a line of crawl.log in bytes.
const maxLogLine = 1 << 20

// logLines hands the whole lines of a directory's crawl.log to each, in their order.
func logLines(ctx context.Context, dir string, each func(l *crawl.LogLine, raw []byte) error) error {
	file, err := os.Open(filepath.Join(dir, "crawl.log"))
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 256<<10), maxLogLine)
	for n := 1; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := jsonl.ParseLogLine(lines.Bytes())
		if err != nil {
			continue // it is being written, or a crash cut it
		}
		if err := each(l, slices.Clip(lines.Bytes())); err != nil {
			return fmt.Errorf("%s: line %d: %w", file.Name(), n, err)
		}
	}
	return lines.Err()
}
