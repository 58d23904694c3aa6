package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// retryable are the verdicts that --retry names. The others are no failure, or are judged anew whenever the job
// changes.
var retryable = map[string]crawl.Verdict{}

func init() {
	for _, v := range []crawl.Verdict{crawl.VerdictRefused, crawl.VerdictFailed, crawl.VerdictBlocked, crawl.VerdictGone} {
		retryable[v.String()] = v
	}
}

// retryFlag is what --retry asks for: verdicts and reasons.
type retryFlag struct{ words []string }

func (r *retryFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&r.words, "retry", nil, "queue again what ended so: `refused`, failed, blocked or gone, or a reason such as private-address (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("retry", cobra.FixedCompletions([]string{"refused", "failed", "blocked", "gone"}, cobra.ShellCompDirectiveNoFileComp))
}

func (r *retryFlag) asked() bool { return len(r.words) > 0 }

// what splits the words into verdicts and reasons. Reasons alone mean all verdicts.
func (r *retryFlag) what() (verdicts []crawl.Verdict, reasons []string) {
	for _, w := range r.words {
		if v, ok := retryable[w]; ok {
			verdicts = append(verdicts, v)
		} else {
			reasons = append(reasons, w)
		}
	}
	if len(verdicts) == 0 {
		for _, v := range retryable {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, reasons
}

// specExpiry is how long programs may go by the settings that a job had before: see postgres.Config.JobExpiry.
const specExpiry = 6 * time.Second

// run is seed with --retry and nothing else.
func (r *retryFlag) run(cmd *cobra.Command, ref *clusterRef, id crawl.JobID, flags *crawl.Job) error {
	c, err := ref.open(cmd.Context())
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.bus.Reach(cmd.Context()); err != nil {
		return err
	}
	return r.retry(cmd, c, id, flags)
}

// retry opens a job's URLs again, by the settings that the flags give it (nil: those that were stored just now), and
// says how many.
func (r *retryFlag) retry(cmd *cobra.Command, c *cluster, id crawl.JobID, flags *crawl.Job) error {
	ctx, jobs := cmd.Context(), c.postgres.Jobs()
	j, err := c.job(ctx, id)
	if err != nil {
		return err
	}
	changed, err := changeJob(cmd, c, j.Info.Job, flags)
	if err != nil {
		return err
	}
	if changed {
		cmd.PrintErrf("job %s: settings changed; all programs know them in %v\n", j.Info.ID, specExpiry)
		if err := waitFor(ctx, specExpiry); err != nil {
			return err
		}
	}
	verdicts, reasons := r.what()
	n, err := node.Retry(ctx, c.bus, c.postgres.URLs(), j.Info.ID, verdicts, reasons)
	if err != nil {
		return err
	}
	if n > 0 && j.Info.State == postgres.JobEnded {
		if err := jobs.SetState(ctx, j.Info.ID, postgres.JobRunning); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %d URLs queued again that ended as %s; `whirlpool status --cluster --job %s` says how far it is\n",
		j.Info.ID, n, strings.Join(r.words, ", "), j.Info.ID)
	return err
}

// changeJob gives a job the settings of the flags that were set; nil: it has them.
func changeJob(cmd *cobra.Command, c *cluster, job, flags *crawl.Job) (changed bool, err error) {
	if flags == nil {
		return true, nil // they were stored a moment ago
	}
	before := *job
	overlay(cmd, job, flags)
	if cmd.Flags().Changed("allow-private") {
		job.AllowPrivate = flags.AllowPrivate
	}
	if sameJob(&before, job) {
		return false, nil
	}
	if err := checkJob(job); err != nil {
		return false, exitStatus{exitUsage, err}
	}
	if err := checkPrivate(c.cfg, job); err != nil {
		return false, err
	}
	return true, c.postgres.Jobs().Put(cmd.Context(), job)
}

// sameJob reports whether two jobs have the same settings, however they came about.
func sameJob(a, b *crawl.Job) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// checkPrivate refuses a job whose seeds can be seen to be out of reach, and says which setting is missing.
func checkPrivate(cfg *process.Config, job *crawl.Job) error {
	permitted := cfg.Fetch.AllowPrivate || cfg.Fetch.PrivateJobs
	if job.AllowPrivate && !permitted {
		return usage("the job asks for private addresses, and this configuration does not permit them: fetch.allow_private_jobs: true " +
			"in the configuration of every node (WHIRLPOOL_FETCH_ALLOW_PRIVATE_JOBS; with compose FETCH_ALLOW_PRIVATE_JOBS=true in .env)")
	}
	if cfg.Fetch.AllowPrivate || job.AllowPrivate {
		return nil
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return err
	}
	for _, u := range seeds {
		if err := netguard.CheckHost(u.Hostname()); err != nil {
			return usage("seed %s: %w; --allow-private permits that", u, err)
		}
	}
	return nil
}

// settledText says how the seeds that were not queued ended, where that is no page; empty otherwise.
func settledText(ctx context.Context, c *cluster, job *crawl.Job) (string, error) {
	seeds, err := job.SeedURLs()
	if err != nil {
		return "", err
	}
	count := map[string]int{}
	for _, u := range seeds {
		entries, err := c.postgres.URLs().Lookup(ctx, job.ID, u.Key())
		if err != nil {
			return "", err
		}
		e := entries[0]
		if _, ok := retryable[e.Verdict.String()]; ok && e.State == crawl.StateDone {
			count[e.Verdict.String()+" ("+cmp.Or(e.Reason, crawl.ReasonStatus)+")"]++
		}
	}
	var parts []string
	for what, n := range count {
		parts = append(parts, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", "), nil
}
