package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// retryFlag is what --retry asks for: verdicts and reasons.
type retryFlag struct{ words []string }

func (r *retryFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&r.words, "retry", nil,
		"queue again what ended so: `refused`, failed, blocked or gone, or a reason such as private-address (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("retry",
		cobra.FixedCompletions([]string{"refused", "failed", "blocked", "gone"}, cobra.ShellCompDirectiveNoFileComp))
}

func (r *retryFlag) asked() bool { return len(r.words) > 0 }

// run queues a job's URLs again, by the settings that change gives it (nil: those that were stored just now), and says
// how many.
func (r *retryFlag) run(cmd *cobra.Command, s control.Service, id crawl.JobID, change control.Change) error {
	retry := control.ParseRetry(r.words)
	retry.Change = change
	retry.Waiting = func(job crawl.JobID, d time.Duration) {
		cmd.PrintErrf("job %s: settings changed; all programs know them in %v\n", job, d)
	}
	done, err := s.Retry(cmd.Context(), id, retry)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(),
		"job %s: %s queued again that ended as %s; `whirlpool status --cluster --job %s` says how far it is\n",
		done.Job, plural(done.Queued, "URL"), strings.Join(r.words, ", "), done.Job)
	return err
}

// after applies --retry to a job that was submitted. Without the flag it tells the user which seeds could be queued
// again.
func (r *retryFlag) after(cmd *cobra.Command, s control.Service, done *control.Submitted) error {
	if r.asked() {
		return r.run(cmd, s, done.Job.ID, nil)
	}
	if len(done.Ended) == 0 {
		return nil
	}
	parts := make([]string, len(done.Ended))
	for i, e := range done.Ended {
		parts[i] = fmt.Sprintf("%d %s (%s)", e.URLs, e.Verdict, e.Reason)
	}
	slices.Sort(parts)
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "seeds that were asked for before ended as: %s; --retry queues them again\n",
		strings.Join(parts, ", "))
	return err
}

// changed is a job with the settings of the flags that were given; nil where it has them.
func changed(cmd *cobra.Command, job, flags *crawl.Job) (*crawl.Job, error) {
	next := *job
	overlay(cmd, &next, flags)
	if cmd.Flags().Changed("allow-private") {
		next.AllowPrivate = flags.AllowPrivate
	}
	if sameJob(job, &next) {
		return nil, nil
	}
	if err := checkJob(&next); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	return &next, nil
}

// sameJob reports whether two jobs have the same settings, however they came about.
func sameJob(a, b *crawl.Job) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
