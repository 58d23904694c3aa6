package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/reextract"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// extractFlags are those of `whirlpool extract`.
type extractFlags struct {
	config       string
	json, dryRun bool
}

func newExtract() *cobra.Command {
	f := &extractFlags{}
	cmd := &cobra.Command{
		Use:   "extract -c FILE",
		Short: "Apply site rules again to the pages that are stored, without a request",
		Long: `Extract takes the rules of a job file and applies them to the bodies of stored pages: those that the crawl kept
(--keep-bodies, job: keep_bodies), and in a directory those of its WARC files (--warc) too. The fields of a record
become what the rules give; all else in it stays. A page without a body stays as it is, and is counted.

It may be killed at any instant: called again, it does the rest. In a directory the crawl must not run meanwhile. The
job itself keeps its own rules; "whirlpool set -c FILE" gives it these for the pages that are still to come.`,
		Example: `  whirlpool extract -c new.yml -o jobs --dry-run
  whirlpool extract -c new.yml -o jobs
  whirlpool extract -c new.yml --cluster=node.yml --job example-com`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	cmd.Flags().StringVarP(&f.config, "config", "c", "", "job file (YAML) whose rules are applied")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "change nothing, and say what would change")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	run := ref.over(f.runDirectory, f.runCluster)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.config == "" {
			return usage("name the job file whose rules are applied, with -c")
		}
		return run(cmd, args)
	}
	return cmd
}

// rules compiles those of the job file.
func (f *extractFlags) rules() (*parser.Rules, error) {
	job, err := jobfile.Load(f.config)
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	rules, err := parser.Compile(&job)
	if err != nil {
		return nil, exitStatus{exitUsage, fmt.Errorf("job file %s: %w", f.config, err)}
	}
	return rules, nil
}

func (f *extractFlags) runDirectory(cmd *cobra.Command, _ []string, d *directory.Directory) error {
	if d.Running() {
		return usage("the crawl in %s is running: stop it (`whirlpool stop -o %s`) before rules are applied again", d.Dir,
			d.Dir)
	}
	job, err := d.Job(cmd.Context())
	if err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(d.Dir, "warc", "*.warc.gz"))
	if err != nil {
		return err
	}
	pages := d.Store.Pages()
	return f.run(cmd, reextract.Options{Job: job.ID, Pages: pages, Kept: d.Store.KeptBodies(), Line: pages.PageLine,
		Archives: archives, Records: func() io.ReadCloser { return io.NopCloser(pages.Lines()) }})
}

func (f *extractFlags) runCluster(cmd *cobra.Command, _ []string, j *cluster.Job) error {
	db := j.Cluster.Mongo
	return f.run(cmd, reextract.Options{Job: j.Info.ID, Pages: db.Pages(), Kept: db.Bodies(),
		Records: func() io.ReadCloser { return db.Job(j.Info.ID).Lines(cmd.Context()) }})
}

// run applies the rules and says what came of it.
func (f *extractFlags) run(cmd *cobra.Command, opt reextract.Options) (err error) {
	if opt.Rules, err = f.rules(); err != nil {
		return err
	}
	opt.DryRun = f.dryRun
	n, err := reextract.Run(cmd.Context(), opt)
	if err != nil {
		return fmt.Errorf("after %d amended records (the same command does the rest): %w", n.Amended, err)
	}
	if f.json {
		err = report.WriteJSON(cmd.OutOrStdout(), n)
	} else {
		verb := "amended"
		if f.dryRun {
			verb = "would be amended"
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d pages: %d %s, %d as the rules have them, %d without a body\n", n.Records,
			n.Amended, verb, n.Unchanged, n.NoBody)
	}
	switch {
	case err != nil:
		return err
	case n.Damaged > 0:
		return fmt.Errorf("%d kept bodies are damaged: `whirlpool audit` names them", n.Damaged)
	case n.Records > 0 && n.NoBody == n.Records:
		return errors.New("no page has a body: crawl with --keep-bodies or --warc to apply rules again later")
	}
	return nil
}
