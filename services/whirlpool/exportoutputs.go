package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// noOutputs says where the outputs of a crawl in a directory are.
func noOutputs(_ *cobra.Command, _ []string, d *directory.Directory) error {
	return usage("--outputs is for --cluster: a crawl in a directory writes them while it runs, files into %s",
		filepath.Join(d.Dir, node.OutputsDir))
}

// deliverCluster writes the outputs of a cluster's job, from the records that it has at this moment.
func (f *exportFlags) deliverCluster(cmd *cobra.Command, args []string, j *cluster.Job) error {
	if len(args) > 0 {
		return usage("--outputs writes the files that the job names: leave out %s", args[0])
	}
	job, err := j.Cluster.Postgres.Jobs().Job(cmd.Context(), j.Info.ID)
	if err != nil {
		return err
	}
	return writeOutputs(cmd, job, f.outputs,
		func() io.ReadCloser { return j.Cluster.Mongo.Job(j.Info.ID).Lines(cmd.Context()) })
}

// writeOutputs writes the outputs of a job, one after the other: files into a directory, each whole, or as it was;
// others to where they go, all from the first record on. One that cannot be written does not keep the others.
func writeOutputs(cmd *cobra.Command, job *crawl.Job, dir string, pages func() io.ReadCloser) error {
	all, err := node.OutputsOf(job)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the pipeline of job %s has no node at output: add one, such as builtin/file@1 (docs/outputs.md)",
			job.ID)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for i := range all {
		o := &all[i]
		var n, faults int64
		switch {
		case o.Packs():
			err = fmt.Errorf("%s: `whirlpool export --format wacz` packs the archives of a cluster", o.Where())
		case o.Leaves():
			n, faults, err = sendOutput(cmd.Context(), o, job, dir, pages())
		default:
			n, faults, err = writeOutput(cmd.Context(), &o.Output, dir, pages())
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		where := o.Where()
		if !o.Leaves() {
			where = filepath.Join(dir, o.File)
		}
		cmd.PrintErrf("%s written to %s\n", plural(n, "page"), where)
		if faults > 0 {
			cmd.PrintErrf("the condition of %s failed for %d records, which are not written to it\n", o.Where(), faults)
		}
	}
	return errors.Join(errs...)
}

// sendOutput delivers one that leaves the machine, and counts the records of which its condition failed.
func sendOutput(ctx context.Context, o *node.WantedOutput, job *crawl.Job, dir string,
	pages io.ReadCloser) (n, faults int64, err error) {
	defer func() { err = errors.Join(err, pages.Close()) }()
	o.Dir = dir
	w, err := o.Open(ctx, job.ID, "export of "+string(job.ID), deliver.NewStream(pages), slog.Default())
	if err != nil {
		return 0, 0, err
	}
	for err == nil && w.Behind() {
		err = w.Step(ctx)
	}
	if err == nil {
		err = w.Complete(ctx, true)
	}
	f := w.Figures()
	return f.Rows, f.Faults, errors.Join(err, w.Close())
}

// writeOutput writes one, and counts the records of which its condition failed.
func writeOutput(ctx context.Context, o *deliver.Output, dir string, pages io.ReadCloser) (n, faults int64, err error) {
	defer func() { err = errors.Join(err, pages.Close()) }()
	opt, keep := o.Options, o.Options.Keep
	opt.Keep = func(r *crawl.Record) bool {
		if keep != nil && !keep(r) {
			return false
		}
		if o.When == nil {
			return true
		}
		yes, err := o.When(r)
		if err != nil {
			faults++
		}
		return yes && err == nil
	}
	n, err = exportTo(ctx, filepath.Join(dir, o.File), pages, opt)
	return n, faults, err
}
