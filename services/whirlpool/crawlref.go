package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
)

// crawlRef is what a command is about: the crawl in a directory, or a job of a cluster.
type crawlRef struct {
	out     string // the directory; empty: the only one at hand
	cluster *clusterRef
	job     string // empty: the only one
}

// refFlags declares the flags that say what a command is about.
func refFlags(cmd *cobra.Command) *crawlRef {
	r := &crawlRef{cluster: clusterFlag(cmd)}
	dirFlag(cmd, &r.out)
	cmd.Flags().StringVar(&r.job, "job", "", "`id` of the cluster's job (default: the only one)")
	return r
}

// check refuses flags that do not go together.
func (r *crawlRef) check() error {
	switch {
	case r.cluster.asked() && r.out != "":
		return usage("-o names a crawl's directory and --cluster a cluster: give one of them")
	case !r.cluster.asked() && r.job != "":
		return usage("--job names a job of a cluster: say which with --cluster or --cluster=node.yml")
	}
	return nil
}

// over runs a command over a crawl's directory, or over a job of a cluster.
func (r *crawlRef) over(dir func(*cobra.Command, []string, *directory) error, job func(*cobra.Command, []string, *clusterJob) error) func(*cobra.Command, []string) error {
	return r.overCluster(dir, func(cmd *cobra.Command, args []string, c *cluster) error {
		j, err := c.job(cmd.Context(), crawl.JobID(r.job))
		if err != nil {
			return err
		}
		return job(cmd, args, j)
	})
}

// overCluster runs a command over a crawl's directory, or over a whole cluster.
func (r *crawlRef) overCluster(dir func(*cobra.Command, []string, *directory) error, over func(*cobra.Command, []string, *cluster) error) func(*cobra.Command, []string) error {
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
		defer c.close()
		return over(cmd, args, c)
	})
}

// overView runs a command over either, where it asks nothing but the view.
func (r *crawlRef) overView(run func(*cobra.Command, []string, report.View) error) func(*cobra.Command, []string) error {
	return r.over(func(cmd *cobra.Command, args []string, d *directory) error { return run(cmd, args, d) },
		func(cmd *cobra.Command, args []string, j *clusterJob) error { return run(cmd, args, j) })
}

// clusterJob is a job of a cluster in use by a command.
type clusterJob struct {
	*report.ClusterJob
	c *cluster
}

// job reaches a job; the only one, where id is empty.
func (c *cluster) job(ctx context.Context, id crawl.JobID) (*clusterJob, error) {
	view, err := c.view()
	if err != nil {
		return nil, err
	}
	j, err := view.Job(ctx, id)
	if errors.Is(err, report.ErrWhichJob) {
		return nil, exitStatus{exitUsage, err}
	}
	if err != nil {
		return nil, err
	}
	return &clusterJob{ClusterJob: j, c: c}, nil
}

// view is the cluster for inspection.
func (c *cluster) view() (*report.Cluster, error) {
	db := c.postgres
	var ring func(context.Context) (*report.Ring, error) // nil: a node on its own
	var following report.Following = db.Followed()
	if len(c.cfg.ZooKeeper.Addresses) > 0 {
		ring, following = c.readRing, db.Following()
	}
	return report.NewCluster(report.ClusterSources{Name: c.name(), Jobs: db.Jobs(), Revisions: db.Jobs(), Left: db.URLs(), Ledger: db.URLs(), Fingerprints: db.ContentSet(),
		Hosts: db.Hosts(), Robots: db.Hosts(), Attempts: db.AttemptLog(), Broker: c.bus, Ring: ring, Following: following,
		Unkept:  db.Unkept(),
		Records: func(id crawl.JobID) report.Records { return c.mongo.Job(id) }})
}

var (
	_ report.Broker  = (*rabbit.Bus)(nil)
	_ report.Records = (*mongo.Job)(nil)
)

// name says which cluster it is: where its broker and its database are, without passwords.
func (c *cluster) name() string {
	place := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			return "?"
		}
		return net.JoinHostPort(u.Hostname(), u.Port()) + strings.TrimRight(u.Path, "/")
	}
	return "rabbitmq " + place(c.cfg.RabbitMQ.URL.Reveal()) + ", postgres " + place(c.cfg.Postgres.URL.Reveal())
}
