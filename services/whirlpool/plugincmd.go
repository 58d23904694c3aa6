package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

func newPlugin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Write plug-ins for the pipeline, keep them, and say which may be used",
		Long: `Plugin is about what jobs have in pipeline.nodes besides the built-in nodes: modules (WebAssembly) and programs
that see a request, an answer, a page, its links or its record, and change it. docs/plugins.md shows the way from
nothing to a plug-in that runs.

A plug-in that nobody has approved, and that no known key has signed, runs in tests and dry runs only.`,
		Example: `  whirlpool plugin init shop/price
  whirlpool plugin build price
  whirlpool plugin test price
  whirlpool plugin push price
  whirlpool plugin approve shop/price@1.0.0
  whirlpool plugin push --server https://crawl.example price
  whirlpool plugin push --cluster price
  whirlpool plugin publish price oci://registry.example.com/plugins
  whirlpool plugin push oci://registry.example.com/plugins/shop/price:1.0.0`,
	}
	cmd.AddCommand(newPluginInit(), newPluginBuild(), newPluginTest(), newPluginPush(), newPluginPublish(),
		newPluginList(), newPluginShow(), newPluginApprove(), newPluginDisable())
	return cmd
}

// onPlugins makes a command that works on a repository, or on that of a server.
func onPlugins(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, at pluginPlace) error) *cobra.Command {
	var p pluginFlags
	p.addPlugins(cmd)
	p.cluster, p.server = clusterFlag(cmd), serverFlags(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		return p.with(cmd.Context(), func(at pluginPlace) error { return do(cmd, args, at) })
	})
	return cmd
}

func newPluginList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the plug-ins that jobs can name", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onPlugins(cmd, func(cmd *cobra.Command, _ []string, at pluginPlace) error {
		items, err := at.All(cmd.Context())
		printed := printList(cmd.OutOrStdout(), *format, items, "no plug-ins", "PLUG-IN\tTRUST\tPOINTS\tDIGEST\tSUMMARY",
			func(i repo.Item) string {
				digest := i.Digest
				if digest == "" {
					digest = "-"
				}
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", i.Descriptor.Use(), i.Trust.Level, pointsOf(i.Descriptor), digest,
					i.Descriptor.Summary)
			})
		return errors.Join(printed, err)
	})
}

func pointsOf(d *plugin.Descriptor) string {
	names := make([]string, 0, len(d.Serves))
	for _, s := range d.Serves {
		names = append(names, string(s.Point))
	}
	return strings.Join(names, ",")
}

func newPluginShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show OWNER/NAME@VERSION", Short: "Show a plug-in: points, settings, limits, trust",
		Args: cobra.ExactArgs(1)}
	format := outputFlag(cmd)
	return onPlugins(cmd, func(cmd *cobra.Command, args []string, at pluginPlace) error {
		item, err := findPlugin(cmd.Context(), at, args[0])
		if err != nil {
			return err
		}
		if *format == "json" {
			return printJSON(cmd.OutOrStdout(), item)
		}
		return showPlugin(cmd.OutOrStdout(), &item)
	})
}

func findPlugin(ctx context.Context, d pluginPlace, use string) (repo.Item, error) {
	if !strings.HasPrefix(use, "builtin/") {
		return d.Show(ctx, use)
	}
	all, err := d.All(ctx)
	for _, i := range all {
		if i.Descriptor.Use() == use {
			return i, nil
		}
	}
	for _, i := range all {
		if own := i.Descriptor.Use(); nameOf(own) == nameOf(use) {
			return repo.Item{}, errors.Join(fmt.Errorf("there is no plug-in %s: did you mean %s?", use, own), err)
		}
	}
	return repo.Item{}, errors.Join(fmt.Errorf("there is no plug-in %s: `whirlpool plugin list` shows what there is", use),
		err)
}

// nameOf is the name in OWNER/NAME@VERSION.
func nameOf(use string) string {
	name, _, _ := strings.Cut(use, "@")
	return name
}

// ofOthers refuses what comes with the program: nobody says whether it may be used.
func ofOthers(use string) error {
	if strings.HasPrefix(use, "builtin/") {
		return fmt.Errorf("%s: nodes of the owner builtin come with the program, and may be used always", use)
	}
	return nil
}

func showPlugin(w io.Writer, i *repo.Item) error {
	d := i.Descriptor
	fmt.Fprintf(w, "%s  %s\n", d.Use(), d.Summary)
	if i.Digest != "" {
		fmt.Fprintf(w, "digest   %s\npushed   %s\n", i.Digest, timeText(i.Pushed))
	}
	fmt.Fprintf(w, "tier     %s\ntrust    %s", d.Tier, i.Trust.Level)
	if i.Trust.By != "" {
		fmt.Fprintf(w, ", by %s", i.Trust.By)
	}
	if i.Trust.Why != "" {
		fmt.Fprintf(w, ": %s", i.Trust.Why)
	}
	fmt.Fprintln(w)
	if i.Trust.Wants != "" {
		fmt.Fprintf(w, "         crawls cannot use it: %s\n", i.Trust.Wants)
	}
	for _, s := range d.Serves {
		fmt.Fprintf(w, "serves   %s", s.Point)
		if len(s.Needs) > 0 {
			fmt.Fprintf(w, ", needs %s", strings.Join(s.Needs, " and "))
		}
		for i, name := range slices.Sorted(maps.Keys(s.Adds)) {
			fmt.Fprintf(w, "%s %s (%s)", []string{", adds", ","}[min(i, 1)], name, s.Adds[name])
		}
		fmt.Fprintln(w)
	}
	if len(d.Config) == 0 {
		return nil
	}
	fmt.Fprintln(w, "settings, as JSON Schema:")
	return printJSON(w, d.Config)
}

func newPluginApprove() *cobra.Command {
	cmd := &cobra.Command{Use: "approve OWNER/NAME@VERSION", Args: cobra.ExactArgs(1),
		Short: "Say that a plug-in may be used by crawls",
		Long: `Approve says that crawls may use a plug-in: the very bytes that lie in the repository now. Read its source
first. A program (tier process) runs only with --plugin-processes besides.`}
	return onPlugins(cmd, func(cmd *cobra.Command, args []string, at pluginPlace) error {
		if err := ofOthers(args[0]); err != nil {
			return err
		}
		digest, err := at.approve(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s may be used (%s)\n", args[0], digest)
		return nil
	})
}

func newPluginDisable() *cobra.Command {
	var why string
	cmd := &cobra.Command{Use: "disable OWNER/NAME@VERSION", Args: cobra.ExactArgs(1),
		Short: "Say that a plug-in must not be used any more",
		Long: `Disable says that a plug-in must not be used. Crawls that use it notice that within ten seconds: each call
fails then, and on_error of its node says what follows.`}
	cmd.Flags().StringVar(&why, "why", "", "why, for those who see it fail")
	return onPlugins(cmd, func(cmd *cobra.Command, args []string, at pluginPlace) error {
		if err := ofOthers(args[0]); err != nil {
			return err
		}
		digest, err := at.disable(cmd.Context(), args[0], why)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s must not be used any more (%s)\n", args[0], digest)
		return nil
	})
}
