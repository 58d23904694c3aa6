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
)

func newApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make the workflows of a server what a file says",
		Long: `Apply reads job files from a file, one or more with --- between them. Each is a workflow whose slug is the job's id: it is made where there is
none, gets a version where its definition differs, and is left alone where it does not. With --dry-run it says what it would do.`,
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
		list, err := documentsOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", *file, err)
		}
		for i := range list {
			list[i].Message = *message
		}
		done, err := c.Apply(cmd.Context(), list, *dry)
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

// documentsOf takes a file apart at its lines of ---, and finds the id of each document.
func documentsOf(text string) ([]api.Applied, error) {
	var out []api.Applied
	var at bytes.Buffer
	end := func() error {
		defer at.Reset()
		if len(bytes.TrimSpace(at.Bytes())) == 0 {
			return nil
		}
		var head struct {
			ID string `yaml:"id"`
		}
		if err := yaml.Unmarshal(at.Bytes(), &head); err != nil {
			return err
		}
		if head.ID == "" {
			return fmt.Errorf("document %d has no id, which is the slug of its workflow: add a line such as id: postings", len(out)+1)
		}
		out = append(out, api.Applied{Slug: head.ID, Source: at.String()})
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
	err := end()
	if err == nil && len(out) == 0 {
		err = errors.Join(io.ErrUnexpectedEOF, errors.New("it has no job file"))
	}
	return out, err
}
