package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

const applyLong = `Apply reads job files from a file, one or more with --- between them. Each is a workflow whose slug
is the job's id: it is made where there is none, gets a version where its definition differs, and is left alone where it
does not. A document with the key schedule is a schedule:

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
		docs.file = *file
		for i := range docs.jobs {
			docs.jobs[i].Message = *message
		}
		done, err := docs.apply(cmd.Context(), c, *dry)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, done, "", "WORKFLOW\tACTION\tVERSION\tCHANGES",
			func(r api.ApplyResult) string {
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

	file  string         // its name
	lines map[string]int // on which they begin, by kind and name
}

func (d *applied) number() int {
	return len(d.jobs) + len(d.schedules) + len(d.channels) + len(d.rules)
}

// add adds a document: one with the key schedule, channel or alert is that, others are job files with an id.
func (d *applied) add(doc document) error {
	root, err := doc.root()
	if err != nil || root == nil {
		return err
	}
	var head struct{ ID, Schedule, Channel, Alert yaml.Node }
	if bad := (*yaml.TypeError)(nil); errors.As(root.Decode(&head), &bad) {
		return errors.New(strings.Join(bad.Errors, "\n"))
	}
	switch {
	case head.Schedule.Value != "":
		s, err := scheduleOf(root)
		if err != nil {
			return err
		}
		d.schedules = append(d.schedules, *s)
		return d.once(doc, "schedule "+s.Name+" of workflow "+s.Workflow)
	case head.Channel.Value != "":
		c := notify.Channel{}
		if err := strictly(root, "channel", &c); err != nil {
			return err
		}
		d.channels = append(d.channels, c)
		return d.once(doc, "channel "+c.Name)
	case head.Alert.Value != "":
		r := workflow.AlertRule{}
		if err := strictly(root, "alert", &r); err != nil {
			return err
		}
		d.rules = append(d.rules, r)
		return d.once(doc, "alert "+r.Name)
	case head.ID.Value == "":
		return fmt.Errorf("line %d: it has no id, which is the slug of its workflow: add a line such as id: postings",
			root.Line)
	}
	d.jobs = append(d.jobs, api.Applied{Slug: head.ID.Value, Source: string(doc.text)})
	return d.once(doc, "workflow "+head.ID.Value)
}

// once refuses what is in the file already: each would take the place of the other, at every run.
func (d *applied) once(doc document, what string) error {
	if first, again := d.lines[what]; again {
		return fmt.Errorf("line %d: %s stands at line %d already: leave one of them", doc.line, what, first)
	}
	d.lines[what] = doc.line
	return nil
}

// documentsOf takes a file apart at its lines of ---.
func documentsOf(text string) (docs *applied, err error) {
	docs = &applied{lines: map[string]int{}}
	doc, number := document{line: 1}, 0
	var faults []error
	end := func() {
		if len(bytes.TrimSpace(doc.text)) > 0 {
			if err := docs.add(doc); err != nil {
				faults = append(faults, err)
			}
		}
		doc = document{line: number + 1}
	}
	for line := range bytes.Lines([]byte(text)) {
		number++
		if mark, _, _ := bytes.Cut(line, []byte(" #")); bytes.Equal(bytes.TrimRight(mark, " \t\r\n"), []byte("---")) {
			end()
			continue
		}
		doc.text = append(doc.text, line...)
	}
	end()
	if len(faults) == 0 && docs.number() == 0 {
		return nil, errors.New("it is empty: write a job file with an id, or several with --- between them")
	}
	return docs, errors.Join(faults...)
}

// scheduleOf reads a document that is a schedule. It may have no other keys than those of one.
func scheduleOf(root *yaml.Node) (*api.AppliedSchedule, error) {
	s := &api.AppliedSchedule{}
	if err := strictly(root, "schedule", s); err != nil {
		return nil, err
	}
	if s.Workflow == "" {
		return nil, fmt.Errorf("line %d: a schedule has a name and a workflow: schedule: nightly, and workflow: postings",
			root.Line)
	}
	return s, nil
}
