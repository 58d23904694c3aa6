package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Give messages that no stage could handle another try",
		Long: `A message that a stage cannot make sense of, or fails to handle a dozen times, becomes a dead letter: it is
kept with the reason, and the crawl goes on without it. Replay puts dead letters back, all of them or those whose IDs
(or beginnings of IDs) are given; the crawl handles them when it goes on. A page that could not be parsed is fetched
again.

Of a cluster all jobs' letters are meant, unless --job names one. They go back into the queues of the stages that buried
them, also while the cluster works.

Mend the cause first: a letter that fails again comes back to the dead letters.`,
		Example: `  whirlpool replay --list
  whirlpool replay --list --json | jq .[0].event
  whirlpool replay -o crawl-example.com 3f2a && whirlpool crawl https://example.com/
  whirlpool replay --cluster --topic parse --dry-run`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	ref, f := refFlags(cmd), &replayFlags{}
	cmd.Flags().BoolVar(&f.list, "list", false, "only list the dead letters")
	cmd.Flags().BoolVar(&f.list, "dry-run", false, "the same: list what would be replayed")
	cmd.Flags().StringVar(&f.topic, "topic", "", "only those of this `topic`: "+strings.Join(node.Topics(), ", "))
	cmd.Flags().BoolVar(&f.json, "json", false, "list them as JSON, with the decoded events")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.topic != "" && !slices.Contains(node.Topics(), f.topic) {
			return usage("--topic %q: want one of %s", f.topic, strings.Join(node.Topics(), ", "))
		}
		return ref.serve(func(cmd *cobra.Command, args []string, s control.Service) error {
			if f.list || f.json {
				return f.show(cmd, s, crawl.JobID(ref.job), args)
			}
			done, err := s.Replay(cmd.Context(), crawl.JobID(ref.job), control.ByID(f.topic, args...))
			if done != nil {
				tellReplayed(cmd, done)
			}
			return err
		})(cmd, args)
	}
	return cmd
}

func tellReplayed(cmd *cobra.Command, r *control.Replayed) {
	then := ""
	if r.Then != "" {
		then = "; " + r.Then
	}
	cmd.Printf("%d of %d messages put back%s\n", r.Put, r.Meant, then)
}

// replayFlags are the flags of `whirlpool replay`.
type replayFlags struct {
	list, json bool
	topic      string
}

// show lists the letters that are meant: all that can be reached, before it says which cannot.
func (f *replayFlags) show(cmd *cobra.Command, s control.Service, job crawl.JobID, ids []string) error {
	all, away := s.Letters(cmd.Context(), job)
	if away != nil && !errors.Is(away, report.ErrUnreachable) {
		return away
	}
	letters, err := control.ByID(f.topic, ids...)(all)
	switch {
	case err != nil:
	case f.json:
		err = report.WriteJSON(cmd.OutOrStdout(), letters)
	default:
		err = listLetters(cmd, letters)
	}
	return errors.Join(err, away)
}

func listLetters(cmd *cobra.Command, letters []report.Letter) error {
	if len(letters) == 0 {
		cmd.PrintErrln("no dead letters")
		return nil
	}
	readable, unreadable := split(letters)
	if err := listReadable(cmd, readable); err != nil || len(unreadable) == 0 {
		return err
	}
	return listUnreadable(cmd, unreadable, len(readable) > 0)
}

// split tells the letters that can be replayed from those that nobody can read.
func split(letters []report.Letter) (readable, unreadable []report.Letter) {
	for _, l := range letters {
		if l.Event != nil {
			readable = append(readable, l)
		} else {
			unreadable = append(unreadable, l)
		}
	}
	return readable, unreadable
}

// listUnreadable lists letters by what is known of them: where they lie, when they came, and how long they are.
func listUnreadable(cmd *cobra.Command, letters []report.Letter, more bool) error {
	out := cmd.OutOrStdout()
	if more {
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%d cannot be read, so they are not replayed and stay where they are:\n", len(letters))
	slices.SortStableFunc(letters, func(a, b report.Letter) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Topic, b.Topic), a.At.Compare(b.At),
			cmp.Compare(a.Bytes, b.Bytes))
	})
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tVHOST\tQUEUE\tTIME\tBYTES\tREASON")
	for _, l := range letters {
		at := "unknown"
		if l.At.Unix() > 0 {
			at = l.At.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", cmp.Or(l.Node, "-"), cmp.Or(l.Vhost, "-"), cmp.Or(l.Topic, "unknown"), at,
			l.Bytes, strings.ReplaceAll(l.Reason, "\n", "; "))
	}
	return w.Flush()
}

func listReadable(cmd *cobra.Command, letters []report.Letter) error {
	if len(letters) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	ring := slices.ContainsFunc(letters, func(l report.Letter) bool { return l.Node != "" })
	node := func(name string) string {
		if !ring {
			return ""
		}
		return name + "\t"
	}
	fmt.Fprintln(w, node("NODE")+"ID\tJOB\tTOPIC\tKEY\tAGE\tREASON")
	for _, l := range letters {
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%v\t%s\n", node(l.Node), l.ID, l.Job, l.Topic, l.Key,
			time.Since(l.At).Round(time.Second), shortReason(l.Reason))
	}
	return w.Flush()
}

// shortReason is a reason in one line. That of a panic has its stack behind the first line: --json shows it.
func shortReason(reason string) string {
	first, rest, _ := strings.Cut(reason, "\n")
	if strings.HasPrefix(rest, "goroutine ") {
		return first
	}
	return strings.ReplaceAll(reason, "\n", "; ")
}
