package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// editFlags say what the settings of an execution are to become.
type editFlags struct {
	file string
	set  []string
}

func addEdit(cmd *cobra.Command) *editFlags {
	f := &editFlags{}
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "job `file` with all settings; -: standard input")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "`key=value` of a job file, such as max_depth=3 or "+
		"politeness.delay=5s or 'exclude=[/calendar/]'; an empty value is the default (repeatable)")
	return f
}

// edit is the edit that the flags ask for; with none of them, what the user makes of the settings in an editor.
func (f *editFlags) edit(cmd *cobra.Command, c *client.Client, id crawl.JobID) (e api.Edit, err error) {
	if f.file != "" && len(f.set) > 0 {
		return e, usage("-f gives all settings, --set some: give one of them")
	}
	list, err := c.Revisions(cmd.Context(), id)
	if err != nil {
		return e, err
	}
	job, err := activeJob(id, list)
	if err != nil {
		return e, err
	}
	e.Epoch = job.Epoch
	switch {
	case f.file != "":
		e.Source, err = definition(cmd, f.file)
	case len(f.set) > 0:
		e.Patch, err = patchBy(f.set)
	default:
		e.Source, err = inEditor(cmd, job)
	}
	return e, err
}

// activeJob is the job of the revision that applies.
func activeJob(id crawl.JobID, list []api.Revision) (*crawl.Job, error) {
	for _, r := range list {
		if r.State == api.RevisionActive {
			return crawl.DecodeJob(r.Job, r.Epoch)
		}
	}
	return nil, fmt.Errorf("execution %s has not begun: change its workflow", id)
}

// patchBy is the merge patch of assignments. A value is YAML.
func patchBy(assignments []string) (map[string]any, error) {
	patch := map[string]any{}
	for _, a := range assignments {
		key, text, found := strings.Cut(a, "=")
		if !found || key == "" {
			return nil, usage("--set %s: write key=value, such as max_depth=3", a)
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, usage("--set %s: %v", a, err)
		}
		into, parts := patch, strings.Split(key, ".")
		for _, part := range parts[:len(parts)-1] {
			inner, ok := into[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[part] = inner
			}
			into = inner
		}
		into[parts[len(parts)-1]] = value
	}
	return patch, nil
}

// inEditor lets the user edit the settings in $EDITOR.
func inEditor(cmd *cobra.Command, job *crawl.Job) (string, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return "", usage("give -f FILE or --set key=value, or set EDITOR to the editor that is to open the settings")
	}
	data, err := jobfile.Marshal(job)
	if err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp("", "whirlpool-*.yml")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return "", err
	}
	if err := runEditor(cmd, editor, tmp.Name()); err != nil {
		return "", fmt.Errorf("%s: %w: nothing changed", editor, err)
	}
	edited, err := os.ReadFile(tmp.Name())
	return string(edited), err
}

func newExecEdit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "edit EXECUTION", Short: "Change the settings of an execution, also while it runs", Args: cobra.ExactArgs(1),
		Long: `Edit makes a revision of an execution's settings: of those that --set names, of all with -f, or in $EDITOR.
From the next request on they apply. What waits in the queues is judged by them when its turn comes; what was left out
before, and is not any more, is fetched. What was fetched stays. "whirlpool exec preview" tells beforehand what that
would be, and "whirlpool exec undo" takes it back.

id, keep_params and near_duplicate cannot change.`,
		Example: "  whirlpool exec edit postings-1 --set max_depth=3 --set 'exclude=[/calendar/]'\n" +
			"  whirlpool exec edit postings-1 -f new.yml -m 'without the calendar'",
	}
	f := addEdit(cmd)
	var r api.NewRevision
	cmd.Flags().StringVarP(&r.Message, "message", "m", "", "why, for whoever looks at it later")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "tell what would change, and change nothing")
	cmd.Flags().BoolVar(&r.Resume, "resume", false, "resume an execution that has ended, with this revision")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) (err error) {
		id := crawl.JobID(args[0])
		if r.Edit, err = f.edit(cmd, c, id); err != nil {
			return err
		}
		revised, err := c.Revise(cmd.Context(), id, r)
		if err != nil {
			return err
		}
		err = tellRevised(cmd.OutOrStdout(), revised)
		if err == nil && r.Resume && !r.DryRun && len(revised.Changes) == 0 {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "it is not resumed: `whirlpool exec resume %s` resumes it as it is\n", id)
		}
		return err
	})
}

func newExecRevisions() *cobra.Command {
	cmd := &cobra.Command{Use: "revisions EXECUTION",
		Short: "List the revisions of an execution's settings, the newest first", Args: cobra.ExactArgs(1)}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		list, err := c.Revisions(cmd.Context(), crawl.JobID(args[0]))
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "the execution has not begun",
			"REVISION\tSTATE\tAT\tBY\tCHANGES\tMESSAGE", revisionLine)
	})
}

func revisionLine(r api.Revision) string {
	changes := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		changes[i] = c.String()
	}
	message := r.Message
	if r.Undoes > 0 {
		message = strings.TrimSuffix(fmt.Sprintf("takes back %d; %s", r.Undoes, message), "; ")
	}
	if r.Reason != "" {
		message = strings.TrimSpace(message + " " + r.Reason)
	}
	return fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%s", r.Epoch, r.State, timeText(r.At), r.By, strings.Join(changes, "; "),
		strings.TrimSuffix(message, "; "))
}

func newExecUndo() *cobra.Command {
	cmd := &cobra.Command{Use: "undo EXECUTION [REVISION]",
		Short: "Take a revision back: the settings before it become a new one", Args: cobra.RangeArgs(1, 2)}
	message := cmd.Flags().StringP("message", "m", "", "why, for whoever looks at it later")
	resume := cmd.Flags().Bool("resume", false, "resume an execution that has ended, with this revision")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		id := crawl.JobID(args[0])
		epoch, err := undoneBy(cmd, c, id, args[1:])
		if err != nil {
			return err
		}
		r, err := c.Undo(cmd.Context(), id, epoch, *message, *resume)
		if err != nil {
			return err
		}
		return tellRevised(cmd.OutOrStdout(), r)
	})
}

// undoneBy is the revision that an argument names; the last one where there is none.
func undoneBy(cmd *cobra.Command, c *client.Client, id crawl.JobID, args []string) (epoch uint32, err error) {
	if len(args) > 0 {
		if _, err := fmt.Sscanf(args[0], "%d", &epoch); err != nil || epoch < 2 {
			return 0, usage("%s is no revision that can be taken back: `whirlpool exec revisions %s` lists them; the first "+
				"has nothing before it", args[0], id)
		}
		return epoch, nil
	}
	list, err := c.Revisions(cmd.Context(), id)
	if err != nil {
		return 0, err
	}
	job, err := activeJob(id, list)
	if err != nil {
		return 0, err
	}
	if job.Epoch < 2 {
		return 0, fmt.Errorf("execution %s has its first settings: there is nothing to take back", id)
	}
	return job.Epoch, nil
}
