package main

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// logFlags say which lines are meant, and how many.
type logFlags struct {
	verdicts, reasons, hosts, statuses []string
	since, until                       moment
	url                                string
	limit                              int
	cursor                             int64
	follow                             bool
}

// verdictsOfLog are what a line may say of a URL.
var verdictsOfLog = []crawl.Verdict{crawl.VerdictDone, crawl.VerdictRetry, crawl.VerdictGone, crawl.VerdictBlocked,
	crawl.VerdictRefused, crawl.VerdictFailed, crawl.VerdictExcluded, crawl.VerdictInterrupted}

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the attempts and the URLs that were left out, with the reasons",
		Long: `Log prints the lines of crawl.log, of a directory, of a cluster's job or of a server's execution: one for each
attempt and each URL that was left out, in the order in which they were written, as JSON. It works while the crawl runs:
then it prints what there is so far, and with --follow what comes.

Filters leave the lines that have one of the values of each: --verdict gone,failed --host example.com prints what is
gone or failed of that host. "whirlpool status --reasons" counts the lines by them. With --limit it prints so many
lines, and says where the next ones begin.

With --programs it prints what the programs of a cluster logged, of all nodes in one place, from level info on: the
newest 1,000 lines, or --limit, the oldest of them first; --url looks for a text in them.`,
		Example: `  whirlpool log --cluster --job example-com --verdict excluded,refused,failed,blocked,gone
  whirlpool log --cluster --reason private-address | jq -r .url
  whirlpool log -o crawl-example.com --host example.com --status 5xx,429 --since 2h
  whirlpool log -o crawl-example.com --verdict retry --follow
  whirlpool log --cluster --programs --level warn --since 1h --follow`,
		Args: cobra.NoArgs,
	}
	ref, f := refFlags(cmd), &logFlags{}
	names := make([]string, len(verdictsOfLog))
	for i, v := range verdictsOfLog {
		names[i] = v.String()
	}
	f.declare(cmd, names)
	programs := &programFlags{}
	programs.declare(cmd)
	run, ofPrograms := ref.serve(f.print(ref)), programs.run(f, ref)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := programs.check(f); err != nil {
			return err
		}
		if programs.programs {
			return ofPrograms(cmd, args)
		}
		if _, err := f.selection(); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

func (f *logFlags) declare(cmd *cobra.Command, names []string) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.verdicts, "verdict", nil, "only lines with one of these: "+strings.Join(names, ", "))
	fl.StringSliceVar(&f.reasons, "reason", nil, "only lines with one of these reasons, such as scope or timeout")
	fl.StringSliceVar(&f.hosts, "host", nil, "only lines of these hosts, with their ports where they have one")
	fl.StringSliceVar(&f.statuses, "status", nil, "only answers with one of these statuses; 4xx is all from 400 to 499")
	fl.Var(&f.since, "since", "only lines written then or later: a `time`, a date, or an age such as 2h or 7d")
	fl.Var(&f.until, "until", "only lines written before then")
	fl.StringVar(&f.url, "url", "", "only lines whose URL has this `text` in it")
	fl.IntVar(&f.limit, "limit", 0, "lines to print; 0: all")
	fl.Int64Var(&f.cursor, "cursor", 0, "begin at this place: another call with --limit printed it")
	fl.BoolVarP(&f.follow, "follow", "f", false, "keep printing lines as they are written, until it is interrupted")
	fl.Bool("json", true, "print JSON, which lines are")
	_ = fl.MarkHidden("json") // other commands have it
	_ = cmd.RegisterFlagCompletionFunc("verdict", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// errEnough ends a log whose lines were printed as far as they were wanted.
var errEnough = errors.New("enough lines")

func (f *logFlags) print(ref *crawlRef) func(*cobra.Command, []string, control.Service) error {
	return func(cmd *cobra.Command, _ []string, s control.Service) error {
		meant, err := f.selection()
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if f.follow {
			var stop context.CancelFunc
			ctx, stop = signals(ctx, func() {}, func() {})
			defer stop()
		}
		out, n, ended := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10), 0, int64(0)
		err = s.Events(ctx, crawl.JobID(ref.job), meant, func(line []byte, next int64) error {
			if f.limit > 0 && n == f.limit {
				return errEnough
			}
			n, ended = n+1, next
			_, err := out.Write(line)
			if err == nil && f.follow {
				err = out.Flush()
			}
			return err
		})
		if errors.Is(err, errEnough) {
			err = nil
			cmd.PrintErrf("there are more: --cursor %d\n", ended)
		}
		return errors.Join(err, out.Flush())
	}
}

// selection is what the flags mean.
func (f *logFlags) selection() (s control.Selection, err error) {
	s.Reasons, s.URL, s.Since, s.Until, s.From, s.Follow = f.reasons, f.url, f.since.Time, f.until.Time, f.cursor, f.follow
	if f.limit < 0 || f.cursor < 0 {
		return s, usage("--limit and --cursor cannot be negative")
	}
	for _, h := range f.hosts {
		s.Hosts = append(s.Hosts, strings.ToLower(h))
	}
	if s.Verdicts, err = f.parsed(); err != nil {
		return s, err
	}
	for _, text := range f.statuses {
		class, isClass := strings.CutSuffix(strings.ToLower(text), "xx")
		n, err := strconv.Atoi(class)
		if err != nil || isClass && (n < 1 || n > 5) || !isClass && (n < 100 || n > 999) {
			return s, usage("--status %q: want a status such as 404, or a class such as 4xx", text)
		}
		s.Statuses = append(s.Statuses, n)
	}
	return s, nil
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
