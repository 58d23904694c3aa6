package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
)

// addTopicFlags declares the flags of a job that say what it is about.
func addTopicFlags(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.StringArrayVar(&job.Topic.Examples, "topic-example", nil,
		"`page` about the topic of the crawl, whose links come first: a URL, a file, or a text of some words (repeatable)")
	fl.StringArrayVar(&job.Topic.Not, "topic-not", nil, "`page` that is not about it (repeatable)")
	fl.StringVar(&job.Topic.Background, "topic-background", "",
		"`directory` or pages.jsonl of a crawl that stands for what is not the topic (default the first pages of this one)")
	fl.StringVar(&job.Topic.Model, "topic-model", "",
		"`file` of a model of the topic, instead of examples: whirlpool tool topic train")
	fl.StringVar(&job.Classify.Model, "classify", "",
		"`file` of a model of classes by which pages are told apart: whirlpool tool topic train")
}

// overlayTopic copies the flags that were given over a job file's settings.
func overlayTopic(cmd *cobra.Command, job, flags *crawl.Job) {
	for name, copyFlag := range map[string]func(){
		"topic-example":    func() { job.Topic.Examples = flags.Topic.Examples },
		"topic-not":        func() { job.Topic.Not = flags.Topic.Not },
		"topic-background": func() { job.Topic.Background = flags.Topic.Background },
		"topic-model":      func() { job.Topic.Model = flags.Topic.Model },
		"classify":         func() { job.Classify.Model = flags.Classify.Model },
	} {
		if cmd.Flags().Changed(name) {
			copyFlag()
		}
	}
}

// withModels gives a job the models that it asks for. Pages that it names are fetched now, one after the other.
func (f *crawlFlags) withModels(cmd *cobra.Command, job *crawl.Job) error {
	e := exampleFetcher{f: f, job: job, stderr: cmd.ErrOrStderr()}
	err := topical.Complete(cmd.Context(), job, topical.Sources{Files: true, Fetch: e.fetch})
	if err != nil {
		err = exitStatus{exitUsage, nameFlags(cmd.Flags(), err)}
	}
	return err
}

// exampleFetcher fetches examples as the crawl would: it asks robots.txt, and keeps the job's delay between two
// requests, whatever their hosts.
type exampleFetcher struct {
	f      *crawlFlags
	job    *crawl.Job
	stderr io.Writer
	n      int
}

func (e *exampleFetcher) fetch(ctx context.Context, url string) (title, text string, err error) {
	job := *e.job
	// an example need not be in scope
	job.Seeds, job.SeedList, job.Topic, job.Pipeline = []string{url}, "", crawl.Theme{}, crawl.Pipeline{}
	if e.n++; e.n > 1 {
		select {
		case <-time.After(e.job.Politeness.Delay.D()):
		case <-ctx.Done():
			return "", "", context.Cause(ctx)
		}
	}
	opt, err := e.f.tryOptions(&job, url, e.stderr)
	if err != nil {
		return "", "", err
	}
	t, err := tryout.Run(ctx, *opt)
	if err != nil {
		return "", "", err
	}
	var r struct{ Title, Text string }
	if t.Record == nil || json.Unmarshal(t.Record, &r) != nil {
		return "", "", fmt.Errorf("it cannot be an example: %s", t.Answer)
	}
	return r.Title, r.Text, nil
}

// newModels gives a revision its models: those of the job before it, unless it asks for others.
func (f *crawlFlags) newModels(cmd *cobra.Command, before, next *crawl.Job) error {
	next.TopicModel, next.TopicExamples, next.TopicSeen, next.ClassModel = "", "", 0, ""
	next.KeepModels(before)
	return f.withModels(cmd, next)
}
