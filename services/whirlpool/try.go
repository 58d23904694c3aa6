package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newTry() *cobra.Command {
	job, f := crawl.DefaultJob(), &crawlFlags{}
	cmd := &cobra.Command{
		Use:   "try URL",
		Short: "Send one URL through all stages and tell what each makes of it",
		Long: `Try asks for one URL as a crawl with this job would, and tells each step: the form under which a crawl knows
the URL, the job's rules, the line of robots.txt that decides, the request and its answer, what the parser and the site
rules found, and of every link whether a crawl follows it, or why not.

It makes two requests, robots.txt and the URL, with the job's delay between them, and follows nothing. Nothing is stored
and nothing claimed: no directory is made and no crawl is touched. With -c the seeds of the job file set the scope;
without seeds, or without -c, URL is the seed. --body tries a page that you have, without any request.

With --server the server does it, beside what it crawls: it waits for its turn of the host and has the server's
robots.txt files. --workflow takes the definition of a workflow, and --job that of an execution: then the page is
compared with what that has stored, and the links with what it knows. -c beside --job tries other settings on what it
has stored.

The exit status is 0 whatever became of the URL, 2 when the command or the job file is at fault.`,
		Example: `  whirlpool try https://example.com/
  whirlpool try -c jobs.yml https://example.com/jobs/1 --json | jq .parse.fields
  whirlpool try --open http://127.0.0.1:8000/ --allow-private
  whirlpool try --server http://127.0.0.1:8711 --job postings-1 https://example.com/jobs/1`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.addJob(cmd, &job)
	t := addTryFlags(cmd, f)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		opt, err := f.trial(cmd, job, args)
		if err != nil {
			return err
		}
		return t.run(cmd, opt)
	})
	return cmd
}

// tryFlags say what is tried, where, and what is shown of it.
type tryFlags struct {
	depth               int
	body                string
	keep, asJSON, steps bool
	on                  *tryOn
	plugins             *pluginFlags
}

func addTryFlags(cmd *cobra.Command, f *crawlFlags) *tryFlags {
	t, fl := &tryFlags{}, cmd.Flags()
	fl.StringVar(&f.dns, "dns", "", "name server, `ADDR:PORT`")
	fl.BoolVar(&f.allowPrivate, "allow-private", false, "permit loopback and private addresses")
	fl.IntVar(&t.depth, "depth", 0, "hops from a seed at which the URL is said to be found")
	fl.BoolVar(&t.keep, "open", false, "keep the body in a temporary file and print its path")
	fl.BoolVar(&t.asJSON, "json", false, "print JSON")
	fl.BoolVar(&t.steps, "steps", false, "print each step with what went in and came out, as JSON, a line each")
	fl.StringVar(&t.body, "body", "", "`file` with a page that is tried instead of what URL answers; - is standard input")
	_ = cmd.MarkFlagFilename("body") // it was declared above
	f.addPlugins(cmd)
	t.on, t.plugins = addTryOn(cmd), &f.pluginFlags
	return t
}

// run tries, here or on a server, and shows what became of it.
func (t *tryFlags) run(cmd *cobra.Command, opt *tryout.Options) (err error) {
	opt.Depth = t.depth
	if opt.Given, err = givenPage(cmd.InOrStdin(), t.body); err != nil {
		return err
	}
	var got *trial.Trial
	if t.on.asked() {
		got, err = t.on.run(cmd, opt)
	} else {
		got, err = t.here(cmd, opt)
	}
	switch {
	case err != nil:
		return err
	case t.steps:
		return showSteps(cmd.OutOrStdout(), got)
	}
	return showTrial(cmd.OutOrStdout(), got, t.asJSON, t.keep)
}

// here tries on this machine, with the plug-ins that are here, signed or not.
func (t *tryFlags) here(cmd *cobra.Command, opt *tryout.Options) (_ *trial.Trial, err error) {
	trusted, err := t.plugins.open()
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	defer func() { err = errors.Join(err, trusted.Close()) }()
	dry, err := t.plugins.openDry(trusted)
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	defer func() { err = errors.Join(err, dry.all.Close()) }()
	opt.Plugins = node.TrialPlugins(dry)
	return tryout.Run(cmd.Context(), *opt)
}

// showSteps prints the steps of a trial, one a line.
func showSteps(w io.Writer, t *trial.Trial) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range t.Steps {
		if err := enc.Encode(&t.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxGivenPage bounds a page that is given.
const maxGivenPage = 16 << 20

// givenPage reads a page that is tried without a request; nil: none is given.
func givenPage(in io.Reader, path string) (*tryout.Given, error) {
	if path == "" {
		return nil, nil
	}
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, exitStatus{exitUsage, fmt.Errorf("--body: %w", err)}
		}
		defer file.Close()
		in = file
	}
	page, err := io.ReadAll(io.LimitReader(in, maxGivenPage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--body: %w", err)
	case len(page) == 0 || len(page) > maxGivenPage:
		return nil, usage("--body %s: want a page of 1 byte to 16 MiB", path)
	}
	return &tryout.Given{Body: page, ContentType: mime.TypeByExtension(filepath.Ext(path))}, nil
}

// trial puts together what a trial needs.
func (f *crawlFlags) trial(cmd *cobra.Command, job crawl.Job, args []string) (*tryout.Options, error) {
	raw := args[0]
	if f.config != "" {
		file, err := jobfile.Load(f.config)
		if err != nil {
			return nil, exitStatus{exitUsage, err}
		}
		if len(file.Seeds) > 0 {
			args = nil // they set the scope
		}
	}
	final, err := f.job(cmd, job, args)
	if err != nil {
		return nil, err
	}
	only := crawl.Job{Seeds: []string{raw}}
	if _, err := only.SeedURLs(); err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	f.concurrency = 1
	return f.tryOptions(final, raw, cmd.ErrOrStderr())
}

// tryOptions are those of a trial of a URL by a job.
func (f *crawlFlags) tryOptions(job *crawl.Job, url string, stderr io.Writer) (*tryout.Options, error) {
	opt, err := f.options(job, stderr)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	return &tryout.Options{Job: job, URL: url, Fetch: opt.Node.Fetch, DNS: opt.DNS, Log: log}, nil
}

// showTrial prints a trial, and keeps its body where that was asked for.
func showTrial(w io.Writer, t *trial.Trial, asJSON, keep bool) error {
	file := ""
	if keep && t.Body() != nil {
		var err error
		if file, err = keepBody(t); err != nil {
			return fmt.Errorf("--open: %w", err)
		}
	}
	if asJSON {
		return report.WriteJSON(w, struct {
			*trial.Trial
			File string `json:"body_file,omitempty"`
		}{t, file})
	}
	if err := t.WriteText(w); err != nil || !keep {
		return err
	}
	if file == "" {
		file = "none: there was no page"
	}
	_, err := fmt.Fprintf(w, "%-10s %s\n", "body", file)
	return err
}

// usualEndings are those of media types for which systems list rare ones first.
var usualEndings = map[string]string{"text/html": ".html", "application/xhtml+xml": ".xhtml", "text/plain": ".txt"}

// keepBody writes the body of a trial to a temporary file, with an ending that programs know it by.
func keepBody(t *trial.Trial) (string, error) {
	ending := usualEndings[t.Fetch.ContentType]
	if list, err := mime.ExtensionsByType(t.Fetch.ContentType); ending == "" && err == nil && len(list) > 0 {
		ending = list[0]
	}
	file, err := os.CreateTemp("", "whirlpool-try-*"+ending)
	if err != nil {
		return "", err
	}
	if _, err := file.Write(t.Body()); err != nil {
		_ = file.Close()
		return "", err
	}
	return file.Name(), file.Close()
}
