package main

import (
	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// seeded puts together the job that seed names, as if it were new.
func (f *crawlFlags) seeded(cmd *cobra.Command, flags crawl.Job, args []string, id crawl.JobID) (*crawl.Job, error) {
	job, err := f.job(cmd, flags, args)
	if err != nil {
		return nil, err
	}
	if id != "" {
		job.ID = id
		if err := job.Validate(); err != nil {
			return nil, exitStatus{exitUsage, err}
		}
	}
	if cmd.Flags().Changed("allow-private") {
		job.AllowPrivate = flags.AllowPrivate
	}
	if job.Blacklist != "" { // the cluster's programs do not have the file
		if job.BlacklistEntries, err = urlrules.BlacklistLines(job.Blacklist); err != nil {
			return nil, exitStatus{exitUsage, err}
		}
	}
	return job, f.withModels(cmd, job)
}

// added returns a stored job with further seeds. Its settings stay except for those set by flags. With -c all settings
// are those of the file; a job that is not stored yet takes them from there too.
func (f *crawlFlags) added(cmd *cobra.Command, flags crawl.Job, args []string) control.Change {
	if f.config != "" {
		return nil
	}
	return func(current *crawl.Job) (*crawl.Job, error) {
		next, err := f.revised(cmd, current, flags, current.NewSeeds(args))
		if err == nil {
			err = f.apply(cmd, next)
		}
		if err == nil && cmd.Flags().Changed("allow-private") {
			next.AllowPrivate = flags.AllowPrivate
		}
		return next, err
	}
}
