package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/report/tables"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// reportFlags are the flags of `whirlpool report`.
type reportFlags struct {
	format string
	top    int
}

func newReport() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report [" + strings.Join(tables.Names(), "|") + "]...",
		Short: "Write tables of hosts, media types, status codes, seeds and reasons",
		Long: `Report reads crawl.log, or the log of a cluster's job, and writes tables as Heritrix does:

  hosts     URLs, bytes, requests, outcomes, rates and the last error of each host, the most URLs first
  mime      URLs and bytes by media type, the most URLs first
  status    URLs and bytes by HTTP status, the most URLs first
  seeds     what became of each seed: those without an answer first, then by status from the highest
  reasons   URLs by verdict and reason, the most URLs first, with one of them

Without a name it writes all. A URL counts once, by its last outcome. Bytes and requests of a host count each time,
robots.txt and further attempts among them; bytes of the other tables are those of the last answers. Remaining are the
URLs that wait; while a crawl in a directory runs, they are not told. Memory does not grow with the crawl.`,
		Example: `  whirlpool report -o crawl-example.com
  whirlpool report hosts --top 20 -o crawl-example.com
  whirlpool report status mime --format csv --cluster --job example-com
  whirlpool report seeds --format json | jq '.seeds[] | select(.status == "not-crawled")'`,
		ValidArgs: tables.Names(),
		Args:      cobra.OnlyValidArgs,
	}
	ref, fl := refFlags(cmd), cmd.Flags()
	fl.StringVar(&f.format, "format", tables.Text, strings.Join(tables.Formats(), ", "))
	fl.IntVar(&f.top, "top", 0, "only the first `N` rows of each table; 0: all")
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions(tables.Formats(), cobra.ShellCompDirectiveNoFileComp))
	run := ref.over(f.runDirectory, f.runCluster)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(tables.Formats(), f.format) {
			return usage("--format %q: want %s", f.format, strings.Join(tables.Formats(), ", "))
		}
		if f.top < 0 {
			return usage("--top %d: want 0 or more", f.top)
		}
		return run(cmd, args)
	}
	return cmd
}

func (f *reportFlags) runDirectory(cmd *cobra.Command, args []string, d *directory.Directory) error {
	job, err := d.Job(cmd.Context())
	if err != nil {
		return err
	}
	src := tables.Source{Lines: func(ctx context.Context, each func(*crawl.LogLine) error) error {
		err := directory.Lines(ctx, d.Dir, func(l *crawl.LogLine, _ []byte) error { return each(l) })
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}}
	if d.Store != nil {
		src.Open = openURLs(d.Store.URLs(), job.ID)
	}
	return f.write(cmd, args, src, job)
}

func (f *reportFlags) runCluster(cmd *cobra.Command, args []string, j *cluster.Job) error {
	job, err := j.Cluster.Postgres.Jobs().Job(cmd.Context(), j.Info.ID)
	if err != nil {
		return err
	}
	src := tables.Source{Lines: func(ctx context.Context, each func(*crawl.LogLine) error) error {
		return j.Cluster.Postgres.AttemptLog().Lines(ctx, j.Info.ID, crawl.LogSelection{}, 0,
			func(l *crawl.LogLine, _ int64) error { return each(l) })
	}, Open: openURLs(j.Cluster.Postgres.URLs(), j.Info.ID)}
	return f.write(cmd, args, src, job)
}

func (f *reportFlags) write(cmd *cobra.Command, names []string, src tables.Source, job *crawl.Job) (err error) {
	rules, err := urlrules.Compile(job)
	if err != nil {
		return err
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return err
	}
	for _, u := range seeds {
		src.Seeds = append(src.Seeds, rules.Canonical(u))
	}
	t, err := tables.Make(cmd.Context(), src, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if len(names) == 0 {
		names = tables.Names()
	}
	return t.Write(cmd.OutOrStdout(), f.format, f.top, names...)
}

// openPage is how many entries of a ledger are read at a time.
const openPage = 10_000

// openURLs walks through the URLs of a job that have no outcome.
func openURLs(ledger crawl.EntryList, job crawl.JobID) func(context.Context, func(weburl.Key) error) error {
	return func(ctx context.Context, each func(weburl.Key) error) error {
		for after := (weburl.Key{}); ; {
			list, err := ledger.EntriesAfter(ctx, job, after, openPage)
			if err != nil {
				return err
			}
			for i := range list {
				after = list[i].Key
				if list[i].State != crawl.StateOpen || !list[i].Kind.InLedger() {
					continue
				}
				if err := each(after); err != nil {
					return err
				}
			}
			if len(list) < openPage {
				return nil
			}
		}
	}
}
