package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// over runs a command over a crawl's directory, or over a job of a cluster.
func (r *crawlRef) over(dir func(*cobra.Command, []string, *directory.Directory) error, job func(*cobra.Command, []string, *cluster.Job) error) func(*cobra.Command, []string) error {
	return r.overCluster(dir, func(cmd *cobra.Command, args []string, c *cluster.Cluster) error {
		j, err := c.Job(cmd.Context(), crawl.JobID(r.job))
		if err != nil {
			return err
		}
		return job(cmd, args, j)
	})
}

// overCluster runs a command over a crawl's directory, or over a whole cluster.
func (r *crawlRef) overCluster(dir func(*cobra.Command, []string, *directory.Directory) error, over func(*cobra.Command, []string, *cluster.Cluster) error) func(*cobra.Command, []string) error {
	return failing(func(cmd *cobra.Command, args []string) error {
		if err := r.check(); err != nil {
			return err
		}
		if !r.cluster.asked() {
			return withDirectory(&r.out, dir)(cmd, args)
		}
		c, err := r.cluster.open(cmd.Context())
		if err != nil {
			return err
		}
		defer shut(c)
		return over(cmd, args, c)
	})
}

// overView runs a command over either, where it asks nothing but the view.
func (r *crawlRef) overView(run func(*cobra.Command, []string, report.View) error) func(*cobra.Command, []string) error {
	return r.over(func(cmd *cobra.Command, args []string, d *directory.Directory) error { return run(cmd, args, d) },
		func(cmd *cobra.Command, args []string, j *cluster.Job) error { return run(cmd, args, j) })
}

// withDirectory runs a command over a crawl's directory.
func withDirectory(out *string, run func(cmd *cobra.Command, args []string, d *directory.Directory) error) func(*cobra.Command, []string) error {
	return failing(func(cmd *cobra.Command, args []string) (err error) {
		d, err := directory.Open(cmd.Context(), *out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		return run(cmd, args, d)
	})
}
