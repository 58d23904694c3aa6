package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/filter"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/postgres"
)

func newSeed() *cobra.Command {
	f := &crawlFlags{}
	flags := crawl.DefaultJob()
	cmd := &cobra.Command{
		Use:   "seed [URL...] --cluster[=FILE]",
		Short: "Give a job to a cluster",
		Long: `Seed submits a job to a cluster and queues its seeds. The job is made as "whirlpool crawl" makes it: a job file, flags, URLs.
Submitting the same job again changes its settings and queues the seeds that are new; nothing is fetched twice for it.`,
		Example: `  whirlpool seed -c crawl.yml --cluster=node.yml
  whirlpool seed https://example.com/ --max-pages 1000 --cluster`,
	}
	f.addJob(cmd, &flags)
	id := cmd.Flags().String("job", "", "`id` of the job: 1 to 64 of a-z, 0-9 and - (default: the job file's, or the first seed's host)")
	ref := clusterFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if !ref.asked() {
			return usage("seed gives a job to a cluster: say which with --cluster or --cluster=node.yml")
		}
		job, err := f.job(cmd, flags, args)
		if err != nil {
			return err
		}
		if *id != "" {
			job.ID = crawl.JobID(*id)
			if err := job.Validate(); err != nil {
				return exitStatus{exitUsage, err}
			}
		}
		if job.Blacklist != "" { // the cluster's programs do not have the file
			if job.BlacklistEntries, err = filter.BlacklistLines(job.Blacklist); err != nil {
				return exitStatus{exitUsage, err}
			}
		}
		c, err := ref.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.close()
		if err := c.postgres.Jobs().Put(cmd.Context(), job); err != nil {
			return err
		}
		n, err := node.Seed(cmd.Context(), c.bus, c.postgres.URLs(), c.postgres.Hosts(), job)
		if err != nil {
			return err
		}
		info, err := c.postgres.Jobs().Info(cmd.Context(), job.ID)
		if err == nil && n > 0 && info.State == postgres.JobEnded {
			err = c.postgres.Jobs().SetState(cmd.Context(), job.ID, postgres.JobRunning) // the frontier would, some seconds later
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %d seeds queued; `whirlpool status --cluster --job %s` says how far it is\n", job.ID, n, job.ID)
		if err == nil && (info.State == postgres.JobPaused || info.State == postgres.JobStopped) {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s is %s: `whirlpool resume --cluster --job %s` lets it go on\n", job.ID, info.State, job.ID)
		}
		return err
	})
	return cmd
}
