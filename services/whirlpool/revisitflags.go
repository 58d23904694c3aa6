package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// addRevisitFlags declares the flags of a job that are about visiting pages again.
func addRevisitFlags(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.StringVar((*string)(&job.Mode), "mode", string(crawl.ModeOnce),
		"once, or continuous: visit pages again as they change, until the crawl is stopped")
	fl.IntVar(&job.Revisit.Budget, "revisits", crawl.DefaultRevisits,
		"visits of known pages a day, with --mode continuous")
}

// overlayRevisits copies the flags that were given over a job file's settings.
func overlayRevisits(cmd *cobra.Command, job, flags *crawl.Job) {
	if cmd.Flags().Changed("mode") {
		job.Mode = flags.Mode
	}
	if cmd.Flags().Changed("revisits") {
		job.Revisit.Budget = flags.Revisit.Budget
	}
}

// tidyRevisits leaves out what flags set to what is meant anyhow, so that jobs with and without are the same.
func tidyRevisits(job *crawl.Job) {
	if job.Mode == crawl.ModeOnce {
		job.Mode = ""
	}
	if job.Revisit.Budget == crawl.DefaultRevisits {
		job.Revisit.Budget = 0
	}
}

// errUntil is why a crawl ends whose time has passed.
var errUntil = errors.New("the time of --until has passed")

// bounded ends a crawl as a signal would, when its time has passed.
func (f *crawlFlags) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.until <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, f.until, errUntil)
}

// checkUntil refuses a time for a crawl that ends by itself.
func (f *crawlFlags) checkUntil(job *crawl.Job) error {
	if f.until != 0 && !job.Revisits() {
		return usage("--until ends a crawl with --mode continuous: bounds.max_time (--max-time) bounds one that ends by " +
			"itself")
	}
	return nil
}
