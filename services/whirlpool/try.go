package main

import (
	"fmt"
	"io"
	"log/slog"
	"mime"
	"os"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newTry() *cobra.Command {
	job, f := crawl.DefaultJob(), &crawlFlags{}
	cmd := &cobra.Command{
		Use:   "try URL",
		Short: "Send one URL through all stages and tell what each makes of it",
		Long: `Try asks for one URL as a crawl with this job would, and tells each step: the form under which a crawl knows the URL, the job's rules,
the line of robots.txt that decides, the request and its answer, what the parser and the site rules found, and of every link whether a crawl
follows it, or why not.

It makes two requests, robots.txt and the URL, with the job's delay between them, and follows nothing. Nothing is stored and nothing claimed:
no directory is made and no crawl is touched. With -c the seeds of the job file set the scope; without seeds, or without -c, URL is the seed.

The exit status is 0 whatever became of the URL, 2 when the command or the job file is at fault.`,
		Example: `  whirlpool try https://example.com/
  whirlpool try -c jobs.yml https://example.com/jobs/1 --json | jq .parse.fields
  whirlpool try --open http://127.0.0.1:8000/ --allow-private`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.addJob(cmd, &job)
	fl := cmd.Flags()
	fl.StringVar(&f.dns, "dns", "", "name server, `ADDR:PORT`")
	fl.BoolVar(&f.allowPrivate, "allow-private", false, "permit loopback and private addresses")
	depth := fl.Int("depth", 0, "hops from a seed at which the URL is said to be found")
	keep := fl.Bool("open", false, "keep the body in a temporary file and print its path")
	asJSON := fl.Bool("json", false, "print JSON")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		opt, err := f.trial(cmd, job, args)
		if err != nil {
			return err
		}
		opt.Depth = *depth
		t, err := tryout.Run(cmd.Context(), *opt)
		if err != nil {
			return err
		}
		return showTrial(cmd.OutOrStdout(), t, *asJSON, *keep)
	})
	return cmd
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
	opt, err := f.options(final, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	return &tryout.Options{Job: final, URL: raw, Fetch: opt.Node.Fetch, DNS: opt.DNS, Log: log}, nil
}

// showTrial prints a trial, and keeps its body where that was asked for.
func showTrial(w io.Writer, t *tryout.Trial, asJSON, keep bool) error {
	file := ""
	if keep && t.Body() != nil {
		var err error
		if file, err = keepBody(t); err != nil {
			return fmt.Errorf("--open: %w", err)
		}
	}
	if asJSON {
		return report.WriteJSON(w, struct {
			*tryout.Trial
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
func keepBody(t *tryout.Trial) (string, error) {
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
