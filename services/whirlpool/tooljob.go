package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
)

func toolJobfile() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobfile FILE",
		Short: "Check a job file, and print it with all that it leaves out",
		Long: `Jobfile checks a job file as "whirlpool crawl -c FILE" does on this machine, without crawling anything, and
prints the job that it makes, with the defaults of what it leaves out. The exit status is 1 where something is wrong:
every fault of the settings is told and, where they have none, every fault of the files, secrets, plug-ins and models
that they name. It asks no site: whether hosts answer or have private addresses, and whether pages of the web are
examples of a topic, only a crawl finds. Seeds may be missing. docs/jobfile.md explains the keys.`,
		Example: "  whirlpool tool jobfile jobs.yml\n  whirlpool tool jobfile --schema > jobfile.schema.json",
		Args:    cobra.MaximumNArgs(1),
	}
	plugins := &pluginFlags{}
	plugins.addPlugins(cmd)
	schema := cmd.Flags().Bool("schema", false, "print the JSON Schema of job files instead")
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		switch {
		case *schema:
			_, err := cmd.OutOrStdout().Write(jobfile.Schema)
			return err
		case len(args) == 0:
			return usage("tool jobfile: name a FILE, or - for standard input")
		}
		job, err := loadJob(cmd, args[0])
		if err != nil {
			return err
		}
		if err := errors.Join(plugins.faultsOf(cmd, job)...); err != nil {
			return fmt.Errorf("job file %s: %w", args[0], err)
		}
		data, err := jobfile.Marshal(job)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(data)
		return err
	})
	return cmd
}

// loadJob reads and checks a job file; "-" is standard input. What flags may complete may be missing.
func loadJob(cmd *cobra.Command, file string) (*crawl.Job, error) {
	var job crawl.Job
	var err error
	if file == "-" {
		var data []byte
		if data, err = io.ReadAll(cmd.InOrStdin()); err == nil {
			job, err = jobfile.Parse(data)
		}
	} else {
		job, err = jobfile.Load(file)
	}
	if err != nil {
		return nil, err
	}
	complete := job
	complete.ID = cmp.Or(job.ID, "id")
	if len(job.Seeds) == 0 {
		complete.Seeds = []string{"http://example.com/"}
	}
	if err := checkJob(&complete); err != nil {
		return nil, fmt.Errorf("job file %s: %w", file, err)
	}
	sayNotices(cmd, &job)
	return &job, nil
}

// faultsOf finds what is wrong with what a job names, as a crawl does before it begins, but for what is on the network.
func (p *pluginFlags) faultsOf(cmd *cobra.Command, job *crawl.Job) []error {
	faults := append(hereFaults(job), seedListFault(job.SeedList), checkBrowser(job, "", cmd.ErrOrStderr()),
		modelFault(cmd.Context(), job))
	d, err := p.open()
	if err != nil {
		return append(faults, err)
	}
	return append(faults, pipelineFault(cmd.Context(), d, job), d.Close())
}

// errOnline stops the making of a model whose examples are pages of the web.
var errOnline = errors.New("a page of the web")

func modelFault(ctx context.Context, job *crawl.Job) error {
	copied, online := *job, false
	err := topical.Complete(ctx, &copied,
		topical.Sources{Files: true, Fetch: func(context.Context, string) (title, text string, err error) {
			online = true
			return "", "", errOnline
		}})
	if online {
		return nil
	}
	return err
}
