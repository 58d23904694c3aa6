package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// newSet returns the command that changes the settings of a crawl, running or not.
func newSet() *cobra.Command {
	f, flags := &crawlFlags{}, crawl.DefaultJob()
	cmd := &cobra.Command{
		Use:   "set [URL...]",
		Short: "Change the settings of a crawl, while it runs or between two runs",
		Long: `Set makes a new revision of a crawl's job: the settings that the flags name, or those of a whole job file with
-c. URLs are further seeds. It says what changes. From the next request on the new settings apply. What waits in the
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
	cmd.Args = checkWords
	cmd.RunE = ref.serve(func(cmd *cobra.Command, args []string, s control.Service) error {
		change := func(job *crawl.Job) (*crawl.Job, error) {
			next, err := f.revised(cmd, job, flags, args)
			if err == nil && next.SeedList != job.SeedList {
				return nil, usage("seed_list: set reads no list: `whirlpool crawl --seeds` and `whirlpool seed --seeds` do")
			}
			return next, err
		}
		r, err := s.Revise(cmd.Context(), crawl.JobID(ref.job), change)
		if err != nil {
			return err
		}
		return tellRevised(cmd.OutOrStdout(), r)
	})
	return cmd
}

// goOn returns the job of a directory's crawl with its stored settings, changed by the flags that were given. ok is
// false if the command itself says what to crawl.
func (f *crawlFlags) goOn(cmd *cobra.Command, flags crawl.Job, args []string) (job *crawl.Job, ok bool, err error) {
	if len(args) > 0 || f.any() || f.config != "" || f.fresh || f.out == "" || !directory.Holds(f.out) {
		return nil, false, nil
	}
	stored, found, err := directory.StoredJob(cmd.Context(), f.out)
	if err != nil || !found {
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
		if next.Unseeded() {
			next.Seeds, next.SeedList = job.Seeds, job.SeedList
		}
	}
	overlay(cmd, &next, &flags)
	presets(cmd, &next, &flags)
	f.letDocumentsIn(&next)
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
	if err := f.newModels(cmd, job, &next); err != nil {
		return nil, err
	}
	if err := crawl.CheckChange(job, &next); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	return &next, nil
}

// tellRevised says what a revision changed, and when it applies.
func tellRevised(w io.Writer, r *control.Revised) error {
	if len(r.Changes) == 0 {
		_, err := fmt.Fprintf(w, "%s: nothing changes; it is at revision %d\n", r.Job, r.Epoch)
		return err
	}
	tellChanges(w, &crawl.Job{ID: r.Job, Epoch: r.Epoch}, r.Changes)
	if r.Applies == "" { // it was a dry run
		return nil
	}
	_, err := fmt.Fprintln(w, r.Applies)
	return err
}
