package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

func newContext() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Name servers, and choose the one that commands ask",
		Long: `Context keeps servers by name, with their API keys, in contexts.yml in your directory of settings, which only
you can read.

A command that takes --server and --context asks the one that is named; without either, the current context; without
that, the server that runs in ./whirlpool-data. WHIRLPOOL_CONTEXT and WHIRLPOOL_API_KEY win over what is kept.`,
	}
	cmd.AddCommand(newContextAdd(), newContextUse(), newContextList(), newContextRemove())
	return cmd
}

func newContextAdd() *cobra.Command {
	var address, key string
	cmd := &cobra.Command{Use: "add NAME --server URL", Short: "Keep a server by name, and make it the current one",
		Args: cobra.ExactArgs(1), Example: "  whirlpool context add office --server https://crawl.example.org --key wpk_…"}
	cmd.Flags().StringVar(&address, "server", "", "`address` of the server, such as http://127.0.0.1:8711")
	cmd.Flags().StringVar(&key, "key", "", "API key (default: WHIRLPOOL_API_KEY); `whirlpool key` makes one on the server")
	_ = cmd.MarkFlagRequired("server") // it was declared above
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if key == "" {
			key = os.Getenv("WHIRLPOOL_API_KEY")
		}
		c, err := client.New(address, key)
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		me, err := c.Me(cmd.Context())
		if err != nil {
			return err
		}
		if !me.SignedIn {
			return errors.New("the server does not know the key: `whirlpool key create NAME` there makes one, then give it as " +
				"--key")
		}
		known, err := readContexts()
		if err != nil {
			return err
		}
		known.Servers[args[0]], known.Current = &server{URL: c.Server(), Key: key}, args[0]
		if err := known.write(); err != nil {
			return err
		}
		cmd.Printf("%s is %s, as %s; it is the current context\n", args[0], c.Server(), me.Role)
		return nil
	})
	return cmd
}

func newContextUse() *cobra.Command {
	cmd := &cobra.Command{Use: "use NAME", Short: "Make a context the current one", Args: cobra.ExactArgs(1)}
	cmd.RunE = failing(func(_ *cobra.Command, args []string) error {
		return changeContexts(args[0], func(c *contexts) { c.Current = args[0] })
	})
	return cmd
}

func newContextRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove NAME", Short: "Forget a context and its key", Args: cobra.ExactArgs(1)}
	cmd.RunE = failing(func(_ *cobra.Command, args []string) error {
		return changeContexts(args[0], func(c *contexts) {
			delete(c.Servers, args[0])
			if c.Current == args[0] {
				c.Current = ""
			}
		})
	})
	return cmd
}

func changeContexts(name string, change func(*contexts)) error {
	known, err := readContexts()
	if err != nil {
		return err
	}
	if known.Servers[name] == nil {
		return usage("there is no context %q: there are %s", name,
			strings.Join(slices.Sorted(maps.Keys(known.Servers)), ", "))
	}
	change(known)
	return known.write()
}

func newContextList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List contexts; * is the current one", Args: cobra.NoArgs}
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		known, err := readContexts()
		if err != nil {
			return err
		}
		if len(known.Servers) == 0 {
			cmd.Println("no contexts yet: `whirlpool context add NAME --server URL` makes one")
			return nil
		}
		tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, name := range slices.Sorted(maps.Keys(known.Servers)) {
			mark := map[bool]string{true: "*", false: ""}[name == known.Current]
			fmt.Fprintf(tw, "%s\t%s\t%s\n", mark, name, known.Servers[name].URL)
		}
		return tw.Flush()
	})
	return cmd
}
