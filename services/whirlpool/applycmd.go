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
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

const applyLong = `Apply reads job files from a file, one or more with --- between them. Each is a workflow whose slug is the job's id: it is made where there is
none, gets a version where its definition differs, and is left alone where it does not. A document with the key schedule is a schedule:

  schedule: nightly
  workflow: postings
  cron: 30 2 * * *
  tz: Europe/Copenhagen

One with the key channel is where alerts go, one with the key alert a rule, with the keys of docs/alerts.md:

  channel: ops
  kind: webhook
  url: https://hooks.example.org/x
  secrets: ['${HOOK_SECRET}']
  ---
  alert: failed
  on: failed
  channels: [ops]

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
		docs, err := documentsOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", *file, err)
		}
		for i := range docs.jobs {
			docs.jobs[i].Message = *message
		}
		done, err := docs.apply(cmd.Context(), c, *dry)
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

// applied is what a file for apply has.
type applied struct {
	jobs      []api.Applied
	schedules []api.AppliedSchedule
	channels  []notify.Channel
	rules     []workflow.AlertRule
}

func (d *applied) number() int {
	return len(d.jobs) + len(d.schedules) + len(d.channels) + len(d.rules)
}

// add adds a document: one with the key schedule, channel or alert is that, others are job files with an id.
func (d *applied) add(text []byte) error {
	var head struct {
		ID       string `yaml:"id"`
		Schedule string `yaml:"schedule"`
		Channel  string `yaml:"channel"`
		Alert    string `yaml:"alert"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	switch {
	case head.Schedule != "":
		s, err := scheduleOf(text)
		if err != nil {
			return err
		}
		d.schedules = append(d.schedules, *s)
	case head.Channel != "":
		c := notify.Channel{}
		if err := strictly(text, "channel", &c); err != nil {
			return err
		}
		c.Name = head.Channel
		d.channels = append(d.channels, c)
	case head.Alert != "":
		r := workflow.AlertRule{}
		if err := strictly(text, "alert", &r); err != nil {
			return err
		}
		r.Name = head.Alert
		d.rules = append(d.rules, r)
	case head.ID == "":
		return errors.New("it has no id, which is the slug of its workflow: add a line such as id: postings")
	default:
		d.jobs = append(d.jobs, api.Applied{Slug: head.ID, Source: string(text)})
	}
	return nil
}

// documentsOf takes a file apart at its lines of ---.
func documentsOf(text string) (docs *applied, err error) {
	docs = &applied{}
	var at bytes.Buffer
	end := func() error {
		defer at.Reset()
		if len(bytes.TrimSpace(at.Bytes())) == 0 {
			return nil
		}
		if err := docs.add(at.Bytes()); err != nil {
			return fmt.Errorf("document %d: %w", docs.number()+1, err)
		}
		return nil
	}
	for line := range bytes.Lines([]byte(text)) {
		if bytes.Equal(bytes.TrimRight(line, " \r\n"), []byte("---")) {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		_, _ = at.Write(line) // it never fails
	}
	err = end()
	if err == nil && docs.number() == 0 {
		err = errors.Join(io.ErrUnexpectedEOF, errors.New("it has no job file"))
	}
	return docs, err
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
