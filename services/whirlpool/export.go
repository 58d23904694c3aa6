package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// exportFlags are the flags of `whirlpool export`.
type exportFlags struct {
	format    string
	columns   []string
	originals bool
	raw       bool
	warc      []string // directories of archives
	outputs   string   // directory for the outputs of the job's pipeline
}

// add adds the flags of export.
func (f *exportFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "",
		exportFormats()+", mirror or wacz (default: by the end of FILE's name, else csv)")
	fl.StringArrayVar(&f.warc, "warc", nil,
		"`directory` of WARC files that a mirror or WACZ is made of (repeatable; default: that of the crawl)")
	fl.StringSliceVar(&f.columns, "columns", nil, "columns in their order, with commas between them")
	fl.StringSliceVar(&f.columns, "fields", nil, "the same as --columns; fields.NAME is field.NAME")
	fl.BoolVar(&f.originals, "originals", false, "leave out copies of other pages")
	fl.BoolVar(&f.raw, "raw-text", false, "do not guard CSV cells that a spreadsheet would run as formulas")
	fl.StringVar(&f.outputs, "outputs", "",
		"of a cluster's job: write what the nodes at output of its pipeline ask for, each file whole, into a `directory`")
	register(cmd, "columns", completeColumns)
	register(cmd, "fields", completeColumns)
	cmd.MarkFlagsMutuallyExclusive("columns", "fields")
	for _, other := range []string{"format", "columns", "fields", "originals", "raw-text", "warc"} {
		cmd.MarkFlagsMutuallyExclusive("outputs", other)
	}
}

func newExport() *cobra.Command {
	f := &exportFlags{}
	cmd := &cobra.Command{
		Use:     "export [FILE]",
		Short:   "Write the pages as " + export.Choice(export.Format.Title) + "; or a copy to browse, or WACZ",
		Long:    exportLong,
		Example: exportExamples,
		Args:    cobra.MaximumNArgs(1),
	}
	ref := refFlags(cmd)
	f.add(cmd)
	delivered := ref.over(noOutputs, f.deliverCluster)
	run := ref.over(f.runDirectory, f.runCluster)
	copies := ref.over(f.copyDirectory, f.copyCluster)
	cmd.RunE = ref.overServer(f.exportServer, func(cmd *cobra.Command, args []string) error {
		if f.outputs != "" {
			return delivered(cmd, args)
		}
		if f.copies(args) {
			return copies(cmd, args)
		}
		if len(f.warc) > 0 {
			return usage("--warc is for --format mirror and wacz: the other formats are made of records")
		}
		if err := f.check(args); err != nil {
			return exitStatus{exitUsage, err}
		}
		return run(cmd, args)
	})
	return cmd
}

// completeColumns completes the last of the names between commas.
func completeColumns(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	columns := append(export.Columns(), "field.")
	out := make([]cobra.Completion, 0, len(columns))
	for _, c := range columns {
		out = append(out, before+c)
	}
	return beginning(out, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (f *exportFlags) options(args []string) export.Options {
	opt := export.Options{Format: export.Format(f.format), Columns: f.columns, RawText: f.raw}
	if f.originals {
		opt.Keep = export.Originals
	}
	if f.format == "" {
		opt.Format = export.FormatOf(strings.Join(args, ""))
	}
	return opt
}

func (f *exportFlags) runDirectory(cmd *cobra.Command, args []string, d *directory.Directory) (err error) {
	pages, closePages, err := pagesOf(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closePages()) }()
	job, err := d.Job(cmd.Context())
	if err != nil {
		return err
	}
	return f.run(cmd, args, job.Rules, func() io.ReadCloser { return io.NopCloser(pages()) })
}

func (f *exportFlags) runCluster(cmd *cobra.Command, args []string, j *cluster.Job) error {
	job, err := j.Cluster.Postgres.Jobs().Job(cmd.Context(), j.Info.ID)
	if err != nil {
		return err
	}
	return f.run(cmd, args, job.Rules, func() io.ReadCloser { return j.Cluster.Mongo.Job(j.Info.ID).Lines(cmd.Context()) })
}

// run writes the pages, which it may read twice, each time from the start.
func (f *exportFlags) run(cmd *cobra.Command, args []string, rules []crawl.SiteRule,
	pages func() io.ReadCloser) (err error) {
	if f.format == formatMarkdown {
		return f.exportMarkdown(cmd, args, pages)
	}
	opt := f.options(args)
	if file, ok := cmd.OutOrStdout().(*os.File); len(args) == 0 && ok && opt.Format.Binary() &&
		term.IsTerminal(int(file.Fd())) {
		return usage("%s is not for a terminal: name a FILE", opt.Format.Title())
	}
	if err := findFields(cmd.Context(), &opt, rules, pages); err != nil {
		return fmt.Errorf("columns of the pages: %w", err)
	}
	in := pages()
	defer func() { err = errors.Join(err, in.Close()) }()
	if len(args) == 0 {
		_, err = export.Run(cmd.Context(), in, cmd.OutOrStdout(), opt)
		return err
	}
	n, err := exportTo(cmd.Context(), args[0], in, opt)
	if err == nil {
		cmd.PrintErrf("%s written to %s\n", plural(n, "page"), args[0])
	}
	return err
}

// findFields finds the fields that the pages have, and their types, where the export needs them.
func findFields(ctx context.Context, opt *export.Options, rules []crawl.SiteRule,
	pages func() io.ReadCloser) (err error) {
	all := len(opt.Columns) == 0 && !opt.Format.Whole()
	if !all && !opt.Format.Typed() {
		return nil
	}
	in := pages()
	defer func() { err = errors.Join(err, in.Close()) }()
	types, err := export.FieldTypes(ctx, in, rules)
	if err != nil {
		return err
	}
	opt.Types = types
	if all {
		opt.Fields = slices.Sorted(maps.Keys(types))
	}
	return nil
}

// exportTo writes the pages into a file that is whole or not there.
func exportTo(ctx context.Context, name string, pages io.Reader, opt export.Options) (n int64, err error) {
	err = writeFile(name, func(w io.Writer) (err error) {
		n, err = export.Run(ctx, pages, w, opt)
		return err
	})
	return n, err
}

// pages returns a function that reads the pages from the start: those in the store or, if the crawl runs, the complete
// lines that the file has at this moment.
func pagesOf(d *directory.Directory) (read func() io.Reader, done func() error, err error) {
	if !d.Running() {
		return d.Store.Pages().Lines, func() error { return nil }, nil
	}
	return local.ReadLines(d.Dir)
}
