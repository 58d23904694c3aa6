package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

func newSchedule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Run the workflows of a server by the clock",
		Long: `Schedule is about when the workflows of a server of "whirlpool serve" run by themselves. A schedule is named
WORKFLOW/NAME, or by its workflow where that has one. Each of its times is a slot, which begins one execution, or says
why it did not.`,
		Example: "  whirlpool schedule add postings --cron '30 2 * * *' --tz Europe/Copenhagen\n" +
			"  whirlpool schedule next postings\n  whirlpool schedule slots postings",
	}
	cmd.AddCommand(newScheduleList(), newScheduleAdd(), newScheduleEdit(), newSchedulePause(), newScheduleResume(),
		newScheduleRemove(), newScheduleNext(), newScheduleSlots())
	return cmd
}

// onSchedule makes a command of what is done with one schedule.
func onSchedule(cmd *cobra.Command, do func(*cobra.Command, *client.Client, *workflow.Schedule) error) *cobra.Command {
	cmd.Use += " WORKFLOW[/NAME]"
	cmd.Args = cobra.ExactArgs(1)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		slug, name, named := strings.Cut(args[0], "/")
		list, err := c.Schedules(cmd.Context(), slug)
		if err != nil {
			return err
		}
		var names []string
		for i := range list {
			if list[i].Name == name || !named && len(list) == 1 {
				return do(cmd, c, &list[i])
			}
			names = append(names, slug+"/"+list[i].Name)
		}
		if len(names) == 0 {
			return usage("workflow %q has no schedule: `whirlpool schedule add` makes one", slug)
		}
		return usage("%q: want one of %s", args[0], strings.Join(names, ", "))
	})
}

// ruleFlags declares the flags of a schedule's rule.
func ruleFlags(fl *pflag.FlagSet, r *workflow.ScheduleRule) {
	fl.StringVar(&r.Cron, "cron", "",
		"minute, hour, day of month, month, day of week, or @hourly, @daily, @weekly, @monthly, @yearly")
	fl.StringVar(&r.Every, "every", "", "`interval`, such as 6h, instead")
	fl.StringVar(&r.Once, "once", "", "one `time`, such as 2026-12-01T08:00, instead")
	fl.StringVar(&r.Zone, "tz", "", "time `zone`, such as Europe/Copenhagen (default UTC)")
	fl.StringVar(&r.Start, "start", "", "`day` or time before which nothing begins")
	fl.StringVar(&r.Until, "until", "", "`day` or time after which nothing begins")
	fl.StringVar(&r.Jitter, "jitter", "", "begin up to so much later, as in 10m")
	fl.StringVar((*string)(&r.Overlap), "overlap", "",
		"where an execution has not ended: skip, queue, replace or allow (default skip)")
	fl.StringVar((*string)(&r.CatchUp), "catch-up", "",
		"of slots that passed while the server did not run, make up for: none, last or all (default last)")
	fl.IntVar(&r.CatchUpMax, "catch-up-max", 0, "of --catch-up all, how many at most (default 10)")
}

func newScheduleList() *cobra.Command {
	cmd := &cobra.Command{Use: "list [WORKFLOW]", Short: "List schedules", Args: cobra.MaximumNArgs(1)}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		list, err := c.Schedules(cmd.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list,
			"no schedules yet: `whirlpool schedule add WORKFLOW --cron '30 2 * * *'` makes one",
			"SCHEDULE\tNEXT\tLAST\tWHEN", func(s workflow.Schedule) string {
				next, last := "none", "-"
				switch {
				case !s.Paused.IsZero():
					next = "paused"
				case s.Next != nil:
					next = slotTime(s.Next)
				}
				if s.Last != nil {
					last = string(s.Last.State) + " " + string(s.Last.Execution)
				}
				return fmt.Sprintf("%s/%s\t%s\t%s\t%s", s.Slug, s.Name, next, strings.TrimSpace(last), s.Words)
			})
	})
}

// slotTime is a slot as the clock of its zone shows it; of an interval in this machine's zone.
func slotTime(s *workflow.Slot) string {
	if strings.HasSuffix(s.Label, "]") {
		return strings.Replace(timetable.Wall(s.Label), "T", " ", 1)
	}
	return s.At.Local().Format("2006-01-02 15:04")
}

func newScheduleAdd() *cobra.Command {
	var n api.NewSchedule
	cmd := &cobra.Command{Use: "add WORKFLOW", Short: "Make a schedule", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&n.Name, "name", "", "short name of a-z, 0-9 and - (default: schedule)")
	ruleFlags(cmd.Flags(), &n.ScheduleRule)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		s, err := c.AddSchedule(cmd.Context(), args[0], n)
		if err != nil {
			return err
		}
		return printNext(cmd, c, s, 5)
	})
}

func newScheduleEdit() *cobra.Command {
	var r workflow.ScheduleRule
	cmd := &cobra.Command{Use: "edit", Short: "Give a schedule another rule: what is not said is as by default"}
	ruleFlags(cmd.Flags(), &r)
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		s, err := c.ChangeSchedule(cmd.Context(), s.ID, r)
		if err != nil {
			return err
		}
		return printNext(cmd, c, s, 5)
	})
}

func newSchedulePause() *cobra.Command {
	cmd := &cobra.Command{Use: "pause", Short: "Let nothing begin by a schedule"}
	reason := cmd.Flags().String("reason", "", "why, for people")
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		_, err := c.PauseSchedule(cmd.Context(), s.ID, *reason)
		if err == nil {
			cmd.Printf("%s/%s is paused\n", s.Slug, s.Name)
		}
		return err
	})
}

func newScheduleResume() *cobra.Command {
	cmd := &cobra.Command{Use: "resume", Short: "Resume a schedule, from now"}
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		s, err := c.ResumeSchedule(cmd.Context(), s.ID)
		if err != nil {
			return err
		}
		return printNext(cmd, c, s, 1)
	})
}

func newScheduleRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove", Short: "Delete a schedule and its slots; its executions stay"}
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		err := c.RemoveSchedule(cmd.Context(), s.ID)
		if err == nil {
			cmd.Printf("%s/%s is gone\n", s.Slug, s.Name)
		}
		return err
	})
}

func newScheduleNext() *cobra.Command {
	cmd := &cobra.Command{Use: "next", Short: "Print the next times of a schedule"}
	n := cmd.Flags().IntP("slots", "n", 5, "how many, up to 100")
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		return printNext(cmd, c, s, *n)
	})
}

// printNext says what a schedule is, and when it comes.
func printNext(cmd *cobra.Command, c *client.Client, s *workflow.Schedule, n int) error {
	slots, err := c.Upcoming(cmd.Context(), s.ID, n)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s/%s: %s\n", s.Slug, s.Name, s.Words)
	if len(slots) == 0 {
		fmt.Fprintln(out, "  nothing comes: it is paused, or has come to its end")
	}
	for i := range slots {
		text := slots[i].Label
		if text != slots[i].At.Format(time.RFC3339) {
			text += "  " + slots[i].At.Format(time.RFC3339)
		}
		if slots[i].Due != slots[i].At {
			text += "  begins " + slots[i].Due.Format(time.RFC3339)
		}
		fmt.Fprintln(out, "  "+text)
	}
	return nil
}

func newScheduleSlots() *cobra.Command {
	cmd := &cobra.Command{Use: "slots", Short: "Print what became of the times of a schedule, the latest first"}
	n := cmd.Flags().IntP("slots", "n", 20, "how many")
	format := outputFlag(cmd)
	return onSchedule(cmd, func(cmd *cobra.Command, c *client.Client, s *workflow.Schedule) error {
		list, err := c.Slots(cmd.Context(), s.ID, *n)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no slot yet", "SLOT\tSTATE\tEXECUTION\tWHY",
			func(t workflow.Slot) string {
				execution := string(t.Execution)
				if execution == "" {
					execution = "-"
				}
				return fmt.Sprintf("%s\t%s\t%s\t%s", t.Label, t.State, execution, t.Reason)
			})
	})
}
