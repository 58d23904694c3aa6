package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func newWorkflow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Make, change and run the workflows of a server",
		Long: `Workflow is about the workflows of a server of "whirlpool serve": crawls that can be run again and again. The
definition of one is a job file, as "whirlpool crawl -c" takes it; each change makes a version, and older versions can
be restored.`,
		Example: "  whirlpool workflow create -f postings.yml\n  whirlpool workflow run postings\n" +
			"  whirlpool exec watch postings-1",
	}
	cmd.AddCommand(newWorkflowList(), newWorkflowCreate(), newWorkflowShow(), newWorkflowEdit(), newWorkflowDiff(),
		newWorkflowRestore(), newWorkflowRetention(), newWorkflowRun(), newWorkflowArchive())
	return cmd
}

func newWorkflowList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List workflows", Args: cobra.NoArgs}
	archived := cmd.Flags().Bool("archived", false, "those that are archived, too")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Workflows(cmd.Context(), *archived)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no workflows yet: `whirlpool workflow create -f FILE` makes one",
			"SLUG\tVERSION\tEXECUTIONS\tLAST\tCREATED\tNAME", func(w workflow.Workflow) string {
				last := "-"
				if w.Last != nil {
					last = string(w.Last.State)
				}
				return fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%s", w.Slug, w.Current, w.Executions, last, timeText(w.Created), w.Name)
			})
	})
}

// definition reads a definition from a file; -: standard input.
func definition(cmd *cobra.Command, file string) (string, error) {
	if file == "-" {
		data, err := io.ReadAll(cmd.InOrStdin())
		return string(data), err
	}
	data, err := os.ReadFile(file)
	return string(data), err
}

func newWorkflowCreate() *cobra.Command {
	var n api.NewWorkflow
	cmd := &cobra.Command{Use: "create -f FILE", Short: "Make a workflow of a job file", Args: cobra.NoArgs}
	file := cmd.Flags().StringP("file", "f", "", "job `file`; -: standard input")
	cmd.Flags().StringVar(&n.Name, "name", "", "name for people (default: the slug)")
	cmd.Flags().StringVar(&n.Slug, "slug", "", "short name of a-z, 0-9 and - (default: the file's id)")
	cmd.Flags().StringToStringVar(&n.Labels, "label", nil, "`key=value` (repeatable)")
	_ = cmd.MarkFlagRequired("file") // it was declared above
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) (err error) {
		if n.Source, err = definition(cmd, *file); err != nil {
			return err
		}
		w, err := c.CreateWorkflow(cmd.Context(), n)
		if err == nil {
			cmd.Printf("%s made: `whirlpool workflow run %s` runs it\n", w.Slug, w.Slug)
		}
		return err
	})
}

func newWorkflowShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show WORKFLOW", Short: "Print the definition of a workflow", Args: cobra.ExactArgs(1)}
	number := cmd.Flags().Int("version", 0, "an older version (default: the current one)")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		v, err := versionOf(cmd, c, args[0], *number)
		if err != nil {
			return err
		}
		cmd.PrintErrf("version %d of %s, by %s, %s\n", v.Number, args[0], v.Author, timeText(v.Created))
		_, err = io.WriteString(cmd.OutOrStdout(), strings.TrimRight(v.Source, "\n")+"\n")
		return err
	})
}

// versionOf is a version of a workflow; number 0: the current one.
func versionOf(cmd *cobra.Command, c *client.Client, id string, number int) (*workflow.Version, error) {
	if number == 0 {
		w, err := c.Workflow(cmd.Context(), id)
		if err != nil {
			return nil, err
		}
		number = w.Current
	}
	return c.Version(cmd.Context(), id, number)
}

func newWorkflowEdit() *cobra.Command {
	cmd := &cobra.Command{Use: "edit WORKFLOW",
		Short: "Change the definition in your editor, or to that of a file; it becomes the next version",
		Args:  cobra.ExactArgs(1)}
	file := cmd.Flags().StringP("file", "f", "",
		"take the definition from a job `file` instead of the editor; -: standard input")
	message := cmd.Flags().StringP("message", "m", "", "what the change is for")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		v, err := versionOf(cmd, c, args[0], 0)
		if err != nil {
			return err
		}
		take := func() (string, error) { return edited(cmd, v.Source) }
		if *file != "" {
			take = func() (string, error) { return definition(cmd, *file) }
		}
		source, err := take()
		if err != nil {
			return err
		}
		if source == v.Source {
			cmd.PrintErrln("nothing was changed")
			return nil
		}
		next, err := c.AddVersion(cmd.Context(), args[0], api.NewVersion{Source: source, Message: *message, Parent: v.Number})
		if err == nil {
			cmd.Printf("%s is at version %d\n", args[0], next.Number)
		}
		return err
	})
}

// edited lets the user change a text in the editor.
func edited(cmd *cobra.Command, text string) (string, error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "workflow-*.yml")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := runEditor(cmd, editor, f.Name()); err != nil {
		return "", fmt.Errorf("%s: %w: set EDITOR, or give the definition with -f", editor, err)
	}
	data, err := os.ReadFile(f.Name())
	return string(bytes.TrimPrefix(data, []byte("\uFEFF"))), err
}

func newWorkflowDiff() *cobra.Command {
	cmd := &cobra.Command{Use: "diff WORKFLOW [FROM [TO]]",
		Short: "Tell what differs between two versions (default: the last two)", Args: cobra.RangeArgs(1, 3)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		w, err := c.Workflow(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		from, to := max(w.Current-1, 1), w.Current
		for i, at := range []*int{&from, &to} {
			if len(args) > i+1 {
				if *at, err = strconv.Atoi(args[i+1]); err != nil {
					return usage("%q is no number of a version", args[i+1])
				}
			}
		}
		d, err := c.Diff(cmd.Context(), args[0], from, to)
		if err != nil {
			return err
		}
		if len(d.Changes) == 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "versions %d and %d crawl the same\n", from, to)
		}
		for _, change := range d.Changes {
			fmt.Fprintln(cmd.OutOrStdout(), change)
		}
		return nil
	})
}

func newWorkflowRestore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore WORKFLOW VERSION", Short: "Make the definition of an older version the next one",
		Args: cobra.ExactArgs(2)}
	message := cmd.Flags().StringP("message", "m", "", "what it is for")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return usage("%q is no number of a version", args[1])
		}
		v, err := c.Restore(cmd.Context(), args[0], n, *message)
		if err == nil {
			cmd.Printf("%s is at version %d, which is as version %d was\n", args[0], v.Number, n)
		}
		return err
	})
}

func newWorkflowRun() *cobra.Command {
	var o workflow.Overrides
	cmd := &cobra.Command{Use: "run WORKFLOW", Short: "Start an execution", Args: cobra.ExactArgs(1),
		Example: "  whirlpool workflow run postings --watch"}
	pages, depth := cmd.Flags().Int("max-pages", 0, "pages at most, in this execution"),
		cmd.Flags().Int("max-depth", 0, "hops at most, in this execution")
	cmd.Flags().StringArrayVar(&o.Seeds, "seed", nil, "`URL` instead of the seeds (repeatable)")
	cmd.Flags().IntVar(&o.Version, "version", 0, "an older version (default: the current one)")
	watching := cmd.Flags().Bool("watch", false, "wait until it has ended, as `whirlpool exec watch`")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		if cmd.Flags().Changed("max-pages") {
			o.MaxPages = pages
		}
		if cmd.Flags().Changed("max-depth") {
			o.MaxDepth = depth
		}
		e, err := c.Run(cmd.Context(), args[0], o)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), e.ID)
		if *watching {
			return watch(cmd, c, e.ID)
		}
		return nil
	})
}

func newWorkflowArchive() *cobra.Command {
	cmd := &cobra.Command{Use: "archive WORKFLOW", Short: "Archive a workflow: it has no new executions",
		Args: cobra.ExactArgs(1)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		err := c.Archive(cmd.Context(), args[0])
		if err == nil {
			cmd.Printf("%s is archived\n", args[0])
		}
		return err
	})
}
