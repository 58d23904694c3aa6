package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

func newLoginURL() *cobra.Command {
	cmd := &cobra.Command{Use: "login-url", Short: "Print a link that signs you in to the studio, once",
		Long: `Login-url asks the server that runs in a directory on this machine for a link that signs somebody in once,
within a quarter of an hour.

It reads the directory's ` + runningFile + `, which only the user can read who runs the server.`, Args: cobra.NoArgs}
	readOnly := cmd.Flags().Bool("read-only", false, "for somebody who may look but not touch")
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		role := map[bool]string{true: "viewer", false: "admin"}[*readOnly]
		l, err := c.LoginURL(cmd.Context(), role)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), l.URL)
		}
		return err
	})
}

func newKey() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Make, list and revoke API keys of a server"}
	cmd.AddCommand(newKeyCreate(), newKeyList(), newKeyRotate(), newKeyRevoke())
	return cmd
}

func newKeyCreate() *cobra.Command {
	var k api.KeyToMake
	cmd := &cobra.Command{Use: "create NAME", Short: "Make an API key and print it: it is shown this once",
		Args: cobra.ExactArgs(1), Example: "  export WHIRLPOOL_API_KEY=$(whirlpool key create ci --days 90)"}
	cmd.Flags().StringVar(&k.Role, "role", "user", "what it may do: viewer, user, operator or admin")
	cmd.Flags().IntVar(&k.Days, "days", 0, "until it expires; 0: never")
	cmd.Flags().StringSliceVar(&k.Scopes, "scope", nil,
		"`resource` that it is for, such as workflows or executions:read (repeatable; default: all)")
	cmd.Flags().Float64Var(&k.Rate, "rate", 0, "requests a second; 0: as the server has it")
	cmd.Flags().IntVar(&k.Burst, "burst", 0, "requests at once; 0: as the server has it")
	_ = cmd.RegisterFlagCompletionFunc("role",
		cobra.FixedCompletions([]string{"viewer", "user", "operator", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		k.Name = args[0]
		made, err := c.NewKey(cmd.Context(), k)
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), made.Key)
		}
		return err
	})
}

func newKeyList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List API keys", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		keys, err := c.Keys(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, keys, "no keys yet: `whirlpool key create NAME` makes one",
			"ID\tNAME\tROLE\tSCOPES\tRATE\tCREATED\tUSED\tEXPIRES", func(k api.Key) string {
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", k.ID, k.Name, k.Role, scopesText(&k), rateText(&k),
					timeText(k.Created), timeText(k.Used), timeText(k.Expires))
			})
	})
}

func newKeyRotate() *cobra.Command {
	cmd := &cobra.Command{Use: "rotate ID",
		Short: "Give an API key a new secret and print it; the one before is good for 24 hours more",
		Args:  cobra.ExactArgs(1)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		made, err := c.RotateKey(cmd.Context(), args[0])
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), made.Key)
		}
		return err
	})
}

func newKeyRevoke() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke ID", Short: "Make an API key worthless", Args: cobra.ExactArgs(1)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		return c.RevokeKey(cmd.Context(), args[0])
	})
}
