package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

func newAgents() *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "List the programs of a server's nodes, and stop, start or drain one",
		Long: `Agents lists the programs that crawl for a server: where they run, since when they are busy or idle, and how
many messages they have in hand.

A program that is stopped finishes what it has in hand and takes nothing more, until it is started. One that is
drained ends, with exit status 0; whether it comes back is up to what started it. It hears of either within
seconds.`, Args: cobra.NoArgs}
	format := outputFlag(cmd)
	onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Agents(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no program runs",
			"PROGRAM\tSTATE\tSINCE\tIN HAND\tHANDLED\tWORKERS", agentRow)
	})
	for _, w := range []struct {
		wish  api.AgentWish
		short string
	}{
		{api.AgentStop, "Let a program take nothing more"},
		{api.AgentStart, "Resume a program that was stopped"},
		{api.AgentDrain, "Let a program end"},
	} {
		cmd.AddCommand(onServer(&cobra.Command{Use: string(w.wish) + " PROGRAM", Short: w.short, Args: cobra.ExactArgs(1)},
			func(cmd *cobra.Command, args []string, c *client.Client) error {
				return c.AskAgent(cmd.Context(), args[0], w.wish)
			}))
	}
	return cmd
}

func agentRow(a api.Agent) string {
	workers := make([]string, 0, len(a.Workers))
	for _, stage := range slices.Sorted(maps.Keys(a.Workers)) {
		workers = append(workers, fmt.Sprintf("%s %d", stage, a.Workers[stage]))
	}
	since := "-"
	if !a.Since.IsZero() {
		since = time.Since(a.Since).Round(time.Second).String()
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s", a.ID, a.State, since, a.Busy, a.Handled, strings.Join(workers, ", "))
}

func newSettings() *cobra.Command {
	cmd := &cobra.Command{Use: "settings", Short: "List the settings of a server, and change one while it runs",
		Long: `Settings lists the settings of a server: each with its value and where that comes from. What can be changed
holds within seconds, in all programs, without a restart. Each change has a version and can be undone.`,
		Example: "  whirlpool settings\n  whirlpool settings set workers.fetcher 16\n" +
			"  whirlpool settings undo workers.fetcher", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Settings(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no settings", "KEY\tVALUE\tSOURCE\tVERSION\tWHAT",
			func(s api.Setting) string {
				source := s.Source
				if s.By != "" {
					source += " by " + s.By
				}
				return fmt.Sprintf("%s\t%s\t%s\t%d\t%s", s.Key, s.Value, source, s.Version, s.Text)
			})
	})
	cmd.AddCommand(
		onServer(&cobra.Command{Use: "set KEY VALUE", Short: "Change a setting", Args: cobra.ExactArgs(2)},
			func(cmd *cobra.Command, args []string, c *client.Client) error {
				return c.ChangeSetting(cmd.Context(), args[0], args[1])
			}),
		onServer(&cobra.Command{Use: "undo KEY", Short: "Undo the last change of a setting", Args: cobra.ExactArgs(1)},
			func(cmd *cobra.Command, args []string, c *client.Client) error {
				return c.UndoSetting(cmd.Context(), args[0])
			}),
		newSettingsLog())
	return cmd
}

func newSettingsLog() *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "List the changes that were made, the newest first", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.SettingChanges(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "nothing was changed", "VERSION\tWHEN\tBY\tKEY\tWAS\tIS",
			func(s api.SettingChanged) string {
				return fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%s", s.Version, timeText(s.At), s.By, s.Key, s.Was, s.Value)
			})
	})
}
