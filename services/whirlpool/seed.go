package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func newSeed() *cobra.Command {
	f := &crawlFlags{}
	flags := crawl.DefaultJob()
	cmd := &cobra.Command{
		Use: "seed [URL... | -] --cluster[=FILE]", Short: "Give a job to a cluster", Long: seedLong,
		Example: seedExamples,
	}
	f.addJob(cmd, &flags)
	f.addLists(cmd)
	id := cmd.Flags().String("job", "",
		"`id` of the job: 1 to 64 of a-z, 0-9 and - (default: the job file's, or the first seed's host)")
	cmd.Flags().BoolVar(&flags.AllowPrivate, "allow-private", false,
		"permit loopback and private addresses to this job, where the nodes do (fetch.allow_private_jobs)")
	fresh := cmd.Flags().Bool("fresh", false, "delete the job first, if there is one, as `whirlpool delete --force` does")
	again := &retryFlag{}
	again.add(cmd)
	ref := clusterOnly(cmd, "seed gives a job to a cluster: say which with --cluster or --cluster=node.yml")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if err := ref.check(); err != nil {
			return err
		}
		args, err := f.named(args)
		if err = errors.Join(err, checkWords(cmd, args)); err != nil {
			return err
		}
		if again.asked() && len(args) == 0 && f.config == "" && !f.any() {
			change := func(job *crawl.Job) (*crawl.Job, error) { return changed(cmd, job, &flags) }
			return ref.serve(func(cmd *cobra.Command, _ []string, s control.Service) error {
				return again.run(cmd, s, crawl.JobID(*id), change)
			})(cmd, args)
		}
		job, err := f.seeded(cmd, flags, args, crawl.JobID(*id))
		if err != nil {
			return err
		}
		f.told = cmd.ErrOrStderr()
		sub := control.Submission{Job: job, Fresh: *fresh, Known: f.added(cmd, flags, args), List: f.list(cmd, job),
			Bad: f.tellProvided}
		return ref.serve(func(cmd *cobra.Command, _ []string, s control.Service) error {
			return submit(cmd, s, sub, again)
		})(cmd, args)
	})
	return cmd
}

// submit gives a job to a cluster, says what became of it, and queues again what the flags of --retry name.
func submit(cmd *cobra.Command, s control.Service, sub control.Submission, again *retryFlag) error {
	done, err := s.Submit(cmd.Context(), sub)
	if err = errors.Join(tellSubmitted(cmd.OutOrStdout(), done), err); err != nil {
		return err
	}
	return again.after(cmd, s, done)
}

// tellSubmitted says what became of a job that was submitted, as far as it came.
func tellSubmitted(w io.Writer, s *control.Submitted) error {
	if s == nil {
		return nil
	}
	if s.Deleted != nil {
		if err := tellDeleted(w, s.Deleted); err != nil {
			return err
		}
	}
	if s.Stored {
		tellChanges(w, s.Job, s.Changes)
	}
	if s.State == "" { // its seeds were not queued
		return nil
	}
	id := s.Job.ID
	if s.List.Lines > 0 {
		if _, err := fmt.Fprintf(w, "job %s: %s\n", id, countText(s.Job.SeedList, &s.List)); err != nil {
			return err
		}
	}
	queued := s.Queued + s.List.Seeds
	for _, node := range slices.Sorted(maps.Keys(s.Provided)) {
		count := s.Provided[node]
		queued += count.Seeds
		if _, err := fmt.Fprintf(w, "job %s: %s\n", id, countText("node "+node, &count)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "job %s: %s queued; `whirlpool status --cluster --job %s` says how far it is\n", id,
		plural(queued, "seed"), id)
	if err == nil && s.Job.Pipeline.Delivers() {
		_, err = fmt.Fprintf(w, "job %s has outputs: `whirlpool export --cluster --job %s --outputs DIR` writes them, at "+
			"any time\n", id, id)
	}
	if err == nil && (s.State == "paused" || s.State == "stopped") {
		_, err = fmt.Fprintf(w, "job %s is %s: `whirlpool resume --cluster --job %s` resumes it\n", id, s.State, id)
	}
	return err
}
