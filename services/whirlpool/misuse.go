package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sayArguments makes a command, and all below it, say in words of ours how many arguments it takes: cobra counts them,
// and calls an argument too many an unknown command.
func sayArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		sayArguments(c)
	}
	check := cmd.Args
	if check == nil || cmd.HasSubCommands() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		for _, cobras := range []string{"accepts ", "requires at least ", "unknown command ", "invalid argument "} {
			if !strings.HasPrefix(err.Error(), cobras) {
				continue
			}
			if i := slices.IndexFunc(args, func(a string) bool { return !slices.Contains(cmd.ValidArgs, a) }); i >= 0 &&
				cobras == "invalid argument " {
				return usage("%q is none of them: it is `%s`, and `%s --help` says more", args[i],
					strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath())
			}
			return wrongArguments(cmd, args, check(cmd, nil) == nil)
		}
		return err
	}
}

// wrongArguments says which arguments a command takes; none says that it may have none.
func wrongArguments(cmd *cobra.Command, args []string, none bool) error {
	use := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if use != cmd.CommandPath() || !none {
		given := "1 argument is given"
		if len(args) != 1 {
			given = fmt.Sprintf("%d arguments are given", len(args))
		}
		return usage("%s: it is `%s`, and `%s --help` says more", given, use, cmd.CommandPath())
	}
	for _, flag := range []string{"out", "file"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Shorthand != "" {
			return usage("%s takes no argument: write `%[1]s -%s %s`", use, f.Shorthand, directoryOf(args[0]))
		}
	}
	return usage("%s takes no argument, and %q is one: `%[1]s --help` says more", use, args[0])
}

// directoryOf is the directory of the crawl of a URL, or what is no URL itself.
func directoryOf(argument string) string {
	_, rest, isURL := strings.Cut(argument, "://")
	if !isURL {
		return argument
	}
	host, _, _ := strings.Cut(rest, "/")
	return "crawl-" + strings.ReplaceAll(host, ":", "-")
}

// missingFlags says what the flags are for that a command wants and did not get. It is nil for another error.
func missingFlags(root *cobra.Command, args []string, err error) error {
	names, missing := strings.CutPrefix(err.Error(), "required flag(s) ")
	cmd, _, unknown := root.Find(args)
	if !missing || unknown != nil {
		return nil //nolint:nilerr // the error that there is says it
	}
	var wants []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.Contains(names, `"`+f.Name+`"`) {
			_, text := pflag.UnquoteUsage(f)
			wants = append(wants, fmt.Sprintf("--%s (%s)", f.Name, text))
		}
	})
	return usage("%s wants %s", cmd.CommandPath(), strings.Join(wants, " and "))
}
