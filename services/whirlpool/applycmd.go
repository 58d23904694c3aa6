package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const applyLong = `Apply reads job files from a file, one or more with --- between them. Each is a workflow whose slug is the job's id: it is made where there is
none, gets a version where its definition differs, and is left alone where it does not. A document with the key schedule is a schedule:

  schedule: nightly
  workflow: postings
  cron: 30 2 * * *
  tz: Europe/Copenhagen

With --dry-run it says what it would do.`

func newApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "apply -f FILE",
		Short:   "Make the workflows of a server what a file says",
		Long:    applyLong,
		Example: "  whirlpool apply -f crawls.yml --dry-run\n  whirlpool apply -f crawls.yml",
		Args:    cobra.NoArgs,
	}
	file := cmd.Flags().StringP("file", "f", "", "`file` with job files; -: standard input")
	dry := cmd.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	message := cmd.Flags().StringP("message", "m", "", "what the change is for")
	format := outputFlag(cmd)
	_ = cmd.MarkFlagRequired("file") // it was declared above
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		text, err := definition(cmd, *file)
		if err != nil {
			return err
		}
		list, schedules, err := documentsOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", *file, err)
		}
		for i := range list {
			list[i].Message = *message
		}
		done, err := c.Apply(cmd.Context(), list, schedules, *dry)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, done, "", "WORKFLOW\tACTION\tVERSION\tCHANGES", func(r api.ApplyResult) string {
			text := fmt.Sprintf("%s\t%s\t%d\t%d", r.Slug, r.Action, r.Version, len(r.Changes))
			for _, c := range r.Changes {
				text += "\n\t\t\t" + c.String()
			}
			return text
		})
	})
}

// documentsOf takes a file apart at its lines of ---: documents with the key schedule are schedules, others job files
// with an id.
func documentsOf(text string) (jobs []api.Applied, schedules []api.AppliedSchedule, err error) {
	var at bytes.Buffer
	end := func() error {
		defer at.Reset()
		if len(bytes.TrimSpace(at.Bytes())) == 0 {
			return nil
		}
		var head struct {
			ID       string `yaml:"id"`
			Schedule string `yaml:"schedule"`
		}
		if err := yaml.Unmarshal(at.Bytes(), &head); err != nil {
			return err
		}
		number := len(jobs) + len(schedules) + 1
		if head.Schedule != "" {
			s, err := scheduleOf(at.Bytes())
			if err != nil {
				return fmt.Errorf("document %d: %w", number, err)
			}
			schedules = append(schedules, *s)
			return nil
		}
		if head.ID == "" {
			return fmt.Errorf("document %d has no id, which is the slug of its workflow: add a line such as id: postings", number)
		}
		jobs = append(jobs, api.Applied{Slug: head.ID, Source: at.String()})
		return nil
	}
	for line := range bytes.Lines([]byte(text)) {
		if bytes.Equal(bytes.TrimRight(line, " \r\n"), []byte("---")) {
			if err := end(); err != nil {
				return nil, nil, err
			}
			continue
		}
		_, _ = at.Write(line) // it never fails
	}
	err = end()
	if err == nil && len(jobs)+len(schedules) == 0 {
		err = errors.Join(io.ErrUnexpectedEOF, errors.New("it has no job file"))
	}
	return jobs, schedules, err
}

// scheduleOf reads a document that is a schedule. It may have no other keys than those of one.
func scheduleOf(text []byte) (*api.AppliedSchedule, error) {
	var s struct {
		Schedule              string `yaml:"schedule"`
		Workflow              string `yaml:"workflow"`
		workflow.ScheduleRule `yaml:",inline"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return nil, err
	}
	if s.Workflow == "" || s.Schedule == "" {
		return nil, errors.New("a schedule has a name and a workflow: schedule: nightly, and workflow: postings")
	}
	return &api.AppliedSchedule{Workflow: s.Workflow, Name: s.Schedule, ScheduleRule: s.ScheduleRule}, nil
}
