package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

func newSeed() *cobra.Command {
	f := &crawlFlags{}
	flags := crawl.DefaultJob()
	cmd := &cobra.Command{
		Use:   "seed [URL...] --cluster[=FILE]",
		Short: "Give a job to a cluster",
		Long: `Seed submits a job to a cluster and queues its seeds. The job is made as "whirlpool crawl" makes it: a job file, flags, URLs.
A job that exists gets the URLs as further seeds and keeps its settings, but for those that flags name, or all of them with -c. What changes
is said. Nothing is fetched twice for it.

With --retry and no URL it queues those URLs of the job again that ended so, by the settings that flags give it now: what was refused, say,
before --allow-private or media_types permitted it.`,
		Example: `  whirlpool seed -c crawl.yml --cluster=node.yml
  whirlpool seed https://example.com/ --max-pages 1000 --cluster
  whirlpool seed --cluster --job example-com --retry refused --allow-private`,
	}
	f.addJob(cmd, &flags)
	id := cmd.Flags().String("job", "", "`id` of the job: 1 to 64 of a-z, 0-9 and - (default: the job file's, or the first seed's host)")
	cmd.Flags().BoolVar(&flags.AllowPrivate, "allow-private", false, "permit loopback and private addresses to this job, where the nodes do (fetch.allow_private_jobs)")
	fresh := cmd.Flags().Bool("fresh", false, "delete the job first, if there is one, as `whirlpool delete --force` does")
	again := &retryFlag{}
	again.add(cmd)
	ref := clusterFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if !ref.asked() {
			return usage("seed gives a job to a cluster: say which with --cluster or --cluster=node.yml")
		}
		if again.asked() && len(args) == 0 && f.config == "" {
			return again.run(cmd, ref, crawl.JobID(*id), &flags)
		}
		job, err := f.seeded(cmd, flags, args, crawl.JobID(*id))
		if err != nil {
			return err
		}
		c, err := ref.open(cmd.Context())
		if err != nil {
			return err
		}
		defer c.close()
		if *fresh {
			if err := errors.Join(checkPrivate(c.cfg, job), c.bus.Reach(cmd.Context()), c.deleteIfKnown(cmd.Context(), cmd.OutOrStdout(), job.ID)); err != nil {
				return err
			}
		}
		if job, err = f.added(cmd, c, job, flags, args); err != nil {
			return err
		}
		if err := errors.Join(checkPrivate(c.cfg, job), c.bus.Reach(cmd.Context())); err != nil {
			return err
		}
		current, changes, err := node.Revise(cmd.Context(), c.postgres.Jobs(), job)
		if err != nil {
			return err
		}
		tellChanges(cmd.OutOrStdout(), current, changes)
		job = current
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
		if err == nil && again.asked() {
			return again.retry(cmd, c, job.ID, nil)
		}
		if ended, errEnded := settledText(cmd.Context(), c, job); err == nil && n == 0 && ended != "" {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "seeds that were asked for before ended as: %s; --retry queues them again\n", ended)
			err = errors.Join(err, errEnded)
		}
		return err
	})
	return cmd
}
