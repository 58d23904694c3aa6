package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	return usage("--outputs is for --cluster: a crawl in a directory writes them while it runs, into %s", filepath.Join(d.Dir, node.OutputsDir))
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
	return writeOutputs(cmd, job, f.outputs, func() io.ReadCloser { return j.Cluster.Mongo.Job(j.Info.ID).Lines(cmd.Context()) })
}

// writeOutputs writes the outputs of a job into a directory, one after the other: each file is whole, or as it was. One
// that cannot be written does not keep the others.
func writeOutputs(cmd *cobra.Command, job *crawl.Job, dir string, pages func() io.ReadCloser) error {
	all, err := node.OutputsOf(job)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the pipeline of job %s has no node at output: add one, such as builtin/file@1 (docs/plugins.md)", job.ID)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for i := range all {
		n, faults, err := writeOutput(cmd.Context(), &all[i], dir, pages())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cmd.PrintErrf("%d pages written to %s\n", n, filepath.Join(dir, all[i].File))
		if faults > 0 {
			cmd.PrintErrf("the condition of %s failed for %d records, which are not written to it\n", all[i].File, faults)
		}
	}
	return errors.Join(errs...)
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
