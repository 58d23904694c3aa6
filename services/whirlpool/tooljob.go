package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func toolJobfile() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobfile FILE",
		Short: "Check a job file, and print it with all that it leaves out",
		Long: `Jobfile checks a job file as "whirlpool crawl -c FILE" does, without crawling anything, and prints the job that it makes, with the defaults of
what it leaves out. The exit status is 1, and every fault is told, where something is wrong. docs/jobfile.md explains the keys.`,
		Example: "  whirlpool tool jobfile jobs.yml\n  whirlpool tool jobfile --schema > jobfile.schema.json",
		Args:    cobra.MaximumNArgs(1),
	}
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
