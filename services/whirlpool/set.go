package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// newSet returns the command that changes the settings of a crawl, running or not.
func newSet() *cobra.Command {
	f, flags := &crawlFlags{}, crawl.DefaultJob()
	cmd := &cobra.Command{
		Use:   "set [URL...]",
		Short: "Change the settings of a crawl, while it runs or between two runs",
		Long: `Set makes a new revision of a crawl's job: the settings that the flags name, or those of a whole job file with -c.
URLs are further seeds. It says what changes. From the next request on the new settings apply. What waits in the
queues is judged by them when its turn comes; what was left out before, and is not any more, is fetched. What was
fetched stays.

A delay counts at once, from the end of the last request to a host; what the host asked for is kept. id, keep_params and
near_duplicate cannot change.`,
		Example: `  whirlpool set -o crawl-example.com --max-depth 3
  whirlpool set -o crawl-example.com --delay 60s --exclude /calendar/
  whirlpool set --cluster --job example-com -c crawl.yml`,
	}
	ref := refFlags(cmd)
	f.addJob(cmd, &flags)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if err := ref.check(); err != nil {
			return err
		}
		change := func(job *crawl.Job) (*crawl.Job, error) { return f.revised(cmd, job, flags, args) }
		if ref.cluster.asked() {
			return setCluster(cmd, ref, change)
		}
		return setDirectory(cmd.Context(), ref.out, cmd.OutOrStdout(), change)
	})
	return cmd
}

// goOn is the job of a directory's crawl, which goes on with the settings that it has, but for the flags that were
// given. ok is false where the command says itself what to crawl.
func (f *crawlFlags) goOn(cmd *cobra.Command, flags crawl.Job, args []string) (job *crawl.Job, ok bool, err error) {
	if len(args) > 0 || f.config != "" || f.fresh || f.out == "" || !holdsCrawl(f.out) {
		return nil, false, nil
	}
	store, err := local.Open(f.out, local.Default())
	if err != nil {
		return nil, false, err
	}
	stored, found, err := node.StoredJob(cmd.Context(), store)
	if err = errors.Join(err, store.Close()); err != nil || !found {
		return nil, false, err
	}
	job, err = f.revised(cmd, stored, flags, nil)
	return job, err == nil, err
}

// revised is a job with the changes that a command asks for.
func (f *crawlFlags) revised(cmd *cobra.Command, job *crawl.Job, flags crawl.Job, seeds []string) (*crawl.Job, error) {
	next := *job
	if f.config != "" {
		file, err := jobfile.Load(f.config)
		if err != nil {
			return nil, exitStatus{exitUsage, err}
		}
		if next = file; next.ID == "" {
			next.ID = job.ID
		}
		if len(next.Seeds) == 0 {
			next.Seeds = job.Seeds
		}
	}
	overlay(cmd, &next, &flags)
	if f.keepNoFollow {
		next.IgnoreMeta = true
	}
	if f.noSitemaps {
		next.Sitemaps = false
	}
	next.Seeds = append(next.Seeds[:len(next.Seeds):len(next.Seeds)], seeds...)
	if f.config != "" || cmd.Flags().Changed("blacklist") {
		next.BlacklistEntries = nil
		if next.Blacklist != "" { // whoever runs the crawl may not have the file
			var err error
			if next.BlacklistEntries, err = urlrules.BlacklistLines(next.Blacklist); err != nil {
				return nil, exitStatus{exitUsage, err}
			}
		}
	}
	if err := checkJob(&next); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	if err := crawl.CheckChange(job, &next); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	return &next, nil
}

// setDirectory revises the job of a directory: through the process that runs the crawl, or in its state.
func setDirectory(ctx context.Context, out string, stdout io.Writer, change func(*crawl.Job) (*crawl.Job, error)) (err error) {
	d, err := openDirectory(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	client, running := d.View.(*report.Client)
	job := d.job
	if running {
		if job, err = client.Job(ctx); err != nil {
			return err
		}
	}
	next, err := change(job)
	if err != nil {
		return err
	}
	if running {
		r, err := client.Revise(ctx, next)
		if err != nil {
			return err
		}
		return tellRevised(stdout, r, "from the next request on it applies")
	}
	current, changes, err := node.Revise(ctx, d.store.Jobs(), next)
	if err != nil {
		return err
	}
	return tellRevised(stdout, &report.Revised{Job: current.ID, Epoch: current.Epoch, Changes: changes},
		"it applies when the crawl goes on: `whirlpool crawl -o "+d.dir+"`")
}

// setCluster revises a job of a cluster.
func setCluster(cmd *cobra.Command, ref *crawlRef, change func(*crawl.Job) (*crawl.Job, error)) error {
	ctx := cmd.Context()
	c, err := ref.cluster.open(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	j, err := c.job(ctx, crawl.JobID(ref.job))
	if err != nil {
		return err
	}
	next, err := change(j.Info.Job)
	if err != nil {
		return err
	}
	r, err := c.revise(ctx, next)
	if err != nil {
		return err
	}
	return tellRevised(cmd.OutOrStdout(), r, "the cluster goes by it within some seconds")
}

// revise makes a revision of a job and queues the seeds that are new.
func (c *cluster) revise(ctx context.Context, job *crawl.Job) (*report.Revised, error) {
	current, changes, err := node.Revise(ctx, c.postgres.Jobs(), job)
	if err != nil {
		return nil, err
	}
	n, err := node.Seed(ctx, c.bus, c.postgres.URLs(), c.postgres.Hosts(), current)
	if err != nil {
		return nil, err
	}
	info, err := c.postgres.Jobs().Info(ctx, job.ID)
	if err == nil && n > 0 && info.State == postgres.JobEnded {
		err = c.postgres.Jobs().SetState(ctx, job.ID, postgres.JobRunning) // the frontier would, some seconds later
	}
	return &report.Revised{Job: job.ID, Epoch: current.Epoch, Changes: changes}, err
}

// tellRevised says what a revision changed, and when it applies.
func tellRevised(w io.Writer, r *report.Revised, when string) error {
	if len(r.Changes) == 0 {
		_, err := fmt.Fprintf(w, "%s: nothing changes; it is at revision %d\n", r.Job, r.Epoch)
		return err
	}
	tellChanges(w, &crawl.Job{ID: r.Job, Epoch: r.Epoch}, r.Changes)
	_, err := fmt.Fprintln(w, when)
	return err
}
