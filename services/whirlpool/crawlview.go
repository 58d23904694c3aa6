package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// What commands do with a crawl's directory, a cluster, and one of its jobs; and what cobra runs.
type (
	onDirectory func(*cobra.Command, []string, *directory.Directory) error
	onCluster   func(*cobra.Command, []string, *cluster.Cluster) error
	onJob       func(*cobra.Command, []string, *cluster.Job) error
	command     = func(*cobra.Command, []string) error
)

// over runs a command over a crawl's directory, or over a job of a cluster.
func (r *crawlRef) over(dir onDirectory, job onJob) command {
	return r.overCluster(dir, func(cmd *cobra.Command, args []string, c *cluster.Cluster) error {
		j, err := c.Job(cmd.Context(), crawl.JobID(r.job))
		if err != nil {
			return err
		}
		return job(cmd, args, j)
	})
}

// overCluster runs a command over a crawl's directory, or over a whole cluster.
func (r *crawlRef) overCluster(dir onDirectory, over onCluster) command {
	return failing(func(cmd *cobra.Command, args []string) error {
		return r.choose(cmd.Context(), func() error { return withDirectory(cmd, args, r.out, dir) },
			func(c *cluster.Cluster) error { return over(cmd, args, c) })
	})
}

// overView runs a command over either, where it asks nothing but the view.
func (r *crawlRef) overView(run func(*cobra.Command, []string, report.View) error) command {
	return r.overServer(func(cmd *cobra.Command, args []string, c *client.Client, id crawl.JobID) error {
		return run(cmd, args, c.View(id))
	},
		r.over(func(cmd *cobra.Command, args []string, d *directory.Directory) error { return run(cmd, args, d) },
			func(cmd *cobra.Command, args []string, j *cluster.Job) error { return run(cmd, args, j) }))
}

// withDirectory runs a command over a crawl's directory.
func withDirectory(cmd *cobra.Command, args []string, named string, run onDirectory) (err error) {
	d, err := directory.Open(cmd.Context(), named)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return run(cmd, args, d)
}
