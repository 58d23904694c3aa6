package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func newQuotas() *cobra.Command {
	cmd := &cobra.Command{Use: "quotas", Short: "List what roles and accounts may use, and use; change it",
		Long: `Quotas lists what each role and account may use, and what the account uses of it: "2 of 5".
A dash is no bound. Marked with * are those that somebody set for this one role or account; the
others are the role's, or those by which the program begins.

Set changes the quotas that are named and leaves the others as they are: running, pages_per_day,
bytes (0 is no bound), min_delay, ignore_robots and builtin_only. An account that had its role's
quotas has its own from then on, all of them. Reset takes back what was set.`,
		Example: `  whirlpool quotas
  whirlpool quotas mine
  whirlpool quotas set role:user running=4 pages_per_day=100000 min_delay=2s
  whirlpool quotas reset role:user`, Args: cobra.NoArgs}
	format := outputFlag(cmd)
	onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Quotas(cmd.Context())
		if err != nil {
			return err
		}
		return printQuotas(cmd, *format, list)
	})
	cmd.AddCommand(newMyQuota(),
		onServer(&cobra.Command{Use: "set OF QUOTA=VALUE…", Short: "Change quotas of a role (role:user) or an account",
			Args: cobra.MinimumNArgs(2)},
			func(cmd *cobra.Command, args []string, c *client.Client) error {
				return setQuotas(cmd, c, args[0], args[1:])
			}),
		onServer(&cobra.Command{Use: "reset OF", Short: "Take back what was set for a role or an account",
			Args: cobra.ExactArgs(1)},
			func(cmd *cobra.Command, args []string, c *client.Client) error {
				return c.ResetQuota(cmd.Context(), args[0])
			}))
	return cmd
}

func newMyQuota() *cobra.Command {
	cmd := &cobra.Command{Use: "mine", Short: "Print what you may use, and use", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		q, err := c.MyQuota(cmd.Context())
		if err != nil {
			return err
		}
		return printQuotas(cmd, *format, []api.AccountQuota{*q})
	})
}

func printQuotas(cmd *cobra.Command, format string, list []api.AccountQuota) error {
	return printList(cmd.OutOrStdout(), format, list, "no quotas",
		"OF\tNAME\tROLE\tRUNNING\tPAGES A DAY\tBYTES\tMIN DELAY\tIGNORE ROBOTS\tPLUG-INS",
		func(a api.AccountQuota) string {
			used := workflow.Usage{}
			if a.Usage != nil {
				used = *a.Usage
			}
			of, delay, robots, plugins := a.Of, "-", "no", "any"
			if a.Own {
				of += " *"
			}
			if a.Quota.MinDelay > 0 {
				delay = a.Quota.MinDelay.String()
			}
			if a.Quota.IgnoreRobots {
				robots = "yes"
			}
			if a.Quota.BuiltinOnly {
				plugins = "builtin"
			}
			return strings.Join([]string{of, a.Name, a.Role, usedOf(int64(used.Running), int64(a.Quota.Running)),
				usedOf(used.Pages, a.Quota.PagesPerDay), usedOf(used.Bytes, a.Quota.Bytes), delay, robots, plugins}, "\t")
		})
}

func usedOf(used, most int64) string {
	if most == 0 {
		return fmt.Sprintf("%d of -", used)
	}
	return fmt.Sprintf("%d of %d", used, most)
}

// setQuotas changes some of the quotas that hold for a role or an account.
func setQuotas(cmd *cobra.Command, c *client.Client, of string, changes []string) error {
	now, err := c.Quota(cmd.Context(), of)
	if err != nil {
		return err
	}
	next, err := changedQuota(now.Quota, changes)
	if err != nil {
		return err
	}
	return c.ChangeQuota(cmd.Context(), now, next)
}

// changedQuota is a quota with other values, each as QUOTA=VALUE.
func changedQuota(q workflow.Quota, changes []string) (workflow.Quota, error) {
	for _, change := range changes {
		name, value, is := strings.Cut(change, "=")
		if !is {
			return q, usage("%q is no change of a quota: give QUOTA=VALUE, as in running=4", change)
		}
		text := []byte(value) // a number, or true or false
		if !json.Valid(text) || value == "null" || name == workflow.QuotaMinDelay {
			text, _ = json.Marshal(value) // of a string: cannot fail
		}
		d := json.NewDecoder(bytes.NewReader(fmt.Appendf(nil, "{%q:%s}", name, text)))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			return q, usage("%s=%s is none of the quotas: running, pages_per_day and bytes (whole numbers), "+
				"min_delay (as in 2s), ignore_robots and builtin_only (true or false)", name, value)
		}
	}
	return q, nil
}
