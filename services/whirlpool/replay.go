package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Give messages that no stage could handle another try",
		Long: `A message that a stage cannot make sense of, or fails to handle a dozen times, becomes a dead letter: it is kept with the
reason, and the crawl goes on without it. Replay puts dead letters back, all of them or those whose IDs (or beginnings of
IDs) are given; the crawl handles them when it goes on. A page that could not be parsed is fetched again.

Of a cluster all jobs' letters are meant, unless --job names one. They go back into the queues of the stages that buried them, also
while the cluster works.

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
	cmd.RunE = ref.overCluster(func(cmd *cobra.Command, args []string, d *directory) error {
		all, err := d.Letters(cmd.Context())
		if err != nil {
			return err
		}
		letters, done, err := f.choose(cmd, all, args)
		switch {
		case done || err != nil:
			return err
		case d.running():
			return fmt.Errorf("the crawl in %s is running: stop it (`whirlpool stop`), replay, and let it go on", d.dir)
		}
		n, err := putBack(cmd.Context(), d, letters)
		if err == nil {
			cmd.Printf("%d of %d messages put back; they are handled when `whirlpool crawl` goes on in %s\n", n, len(letters), d.dir)
		}
		return err
	}, func(cmd *cobra.Command, args []string, c *cluster) error {
		all, away := c.letters(cmd.Context(), crawl.JobID(ref.job))
		if away != nil && !errors.Is(away, report.ErrUnreachable) {
			return away
		}
		if away != nil {
			away = fmt.Errorf("letters that lie in brokers that do not answer are neither shown nor replayed: %w", away)
		}
		letters, done, err := f.choose(cmd, all, args)
		if done || err != nil {
			return errors.Join(err, away)
		}
		n, err := c.replay(cmd.Context(), letters)
		if err == nil {
			cmd.Printf("%d of %d messages put back\n", n, len(letters))
		}
		return errors.Join(err, away)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.topic != "" && !slices.Contains(node.Topics(), f.topic) {
			return usage("--topic %q: want one of %s", f.topic, strings.Join(node.Topics(), ", "))
		}
		return run(cmd, args)
	}
	return cmd
}

// replayFlags are the flags of `whirlpool replay`.
type replayFlags struct {
	list, json bool
	topic      string
}

// choose picks the letters that are meant, and shows them where that is all that was asked for.
func (f *replayFlags) choose(cmd *cobra.Command, all []report.Letter, ids []string) (letters []report.Letter, done bool, err error) {
	if letters, err = choose(all, ids); err != nil {
		return nil, false, err
	}
	if f.topic != "" {
		letters = slices.DeleteFunc(slices.Clone(letters), func(l report.Letter) bool { return l.Topic != f.topic })
	}
	switch {
	case f.json:
		return nil, true, report.WriteJSON(cmd.OutOrStdout(), letters)
	case f.list:
		return nil, true, listLetters(cmd, letters)
	}
	return letters, false, nil
}

// choose picks the letters whose ids begin with one of the given; all of them if none is given.
func choose(all []report.Letter, ids []string) ([]report.Letter, error) {
	if len(ids) == 0 {
		return all, nil
	}
	chosen := []report.Letter{}
	for _, id := range ids {
		match := slices.DeleteFunc(slices.Clone(all), func(l report.Letter) bool {
			return !strings.HasPrefix(l.ID.String(), strings.ToLower(id))
		})
		others := slices.ContainsFunc(match, func(l report.Letter) bool { return l.ID != match[0].ID }) // nodes may have one each of one id
		switch {
		case id == "" || len(match) == 0:
			return nil, fmt.Errorf("no dead letter has the id %q: `whirlpool replay --list` shows them", id)
		case others:
			return nil, fmt.Errorf("%d dead letters have an id that begins with %q: give more of it", len(match), id)
		case !slices.ContainsFunc(chosen, func(l report.Letter) bool { return l.ID == match[0].ID }):
			chosen = append(chosen, match...)
		}
	}
	return chosen, nil
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
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Topic, b.Topic), a.At.Compare(b.At), cmp.Compare(a.Bytes, b.Bytes))
	})
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tVHOST\tQUEUE\tTIME\tBYTES\tREASON")
	for _, l := range letters {
		at := "unknown"
		if l.At.Unix() > 0 {
			at = l.At.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", cmp.Or(l.Node, "-"), cmp.Or(l.Vhost, "-"), cmp.Or(l.Topic, "unknown"), at, l.Bytes,
			strings.ReplaceAll(l.Reason, "\n", "; "))
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
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%v\t%s\n", node(l.Node), l.ID, l.Job, l.Topic, l.Key, time.Since(l.At).Round(time.Second),
			shortReason(l.Reason))
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

// putBack moves letters to the journal, from which a crawl that goes on delivers them. Interrupted between the two steps, a
// letter is in both places: replayed twice it does no harm.
func putBack(ctx context.Context, d *directory, letters []report.Letter) (n int, err error) {
	wanted := map[crawl.MessageID]bool{}
	for _, l := range letters {
		wanted[l.ID] = true
	}
	var msgs []bus.Message
	var ids []crawl.MessageID
	dead := d.store.DeadLetters()
	err = dead.List(ctx, func(l bus.DeadLetter) error {
		if wanted[l.Message.ID] {
			msgs, ids = append(msgs, report.Revive(l)), append(ids, l.Message.ID)
		}
		return nil
	})
	if err != nil || len(msgs) == 0 {
		return 0, err
	}
	if _, err := d.store.Journal().Append(ctx, msgs...); err != nil {
		return 0, err
	}
	return len(msgs), dead.Remove(ctx, ids...)
}
