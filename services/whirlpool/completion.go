package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// valuesOf are the values of flags that have few, by name.
func valuesOf(flag string) []cobra.Completion {
	switch flag {
	case "scope":
		return []cobra.Completion{
			cobra.CompletionWithDesc(string(crawl.ScopeDomain), "the seeds' registrable domains"),
			cobra.CompletionWithDesc(string(crawl.ScopeHost), "the seeds' hosts"),
			cobra.CompletionWithDesc(string(crawl.ScopePrefix), "URLs under the seeds' directories"),
			cobra.CompletionWithDesc(string(crawl.ScopeAny), "all")}
	case "render":
		return []cobra.Completion{string(crawl.RenderNever), string(crawl.RenderAuto), string(crawl.RenderAlways)}
	case "format":
		return exportNames()
	case "topic":
		return node.Topics()
	case "partition":
		return []cobra.Completion{"host", "domain", "ip", "url"}
	}
	return fewValues[flag]
}

// fewValues are the values of further flags, which say them in their help.
var fewValues = map[string][]cobra.Completion{
	"mode":       {string(crawl.ModeOnce), string(crawl.ModeContinuous)},
	"order":      {string(crawl.OrderPriority), string(crawl.OrderBreadth)},
	"politeness": {"mercator"},
	"assets":     {string(crawl.AssetsAny), string(crawl.AssetsJob), "none"},
	"overlap":    {"skip", "queue", "replace", "allow"},
	"catch-up":   {"last", "none", "all"},
	"severity":   {"info", "warning", "critical"},
	"level":      {"debug", "info", "warn", "error"},
	"on": {"failed", "partial", "slot", "stalled", "dead-letters", "failures", "blocked", "host-blocked", "undelivered",
		"tripped", "records", "budget", "disk"},
}

// namesFile and namesDir are the flags whose values are files, with the ends of their names, and directories.
var (
	namesFile = map[string][]string{"config": {"yml", "yaml"}, "cluster": {"yml", "yaml"}, "blacklist": nil,
		"cpuprofile": nil, "browser": nil}
	namesDir = map[string]bool{"out": true, "dir": true, "profile": true}
)

// takesFile finds the commands whose arguments are files.
var takesFile = regexp.MustCompile(`(^| )\[?FILE`)

// complete makes the shell complete the values of flags and arguments of a command and all below it: those that it
// knows, files only where files are wanted.
func complete(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		complete(c)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() &&
		!takesFile.MatchString(cmd.Use) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known || f.Value.Type() == "bool" {
			return
		}
		ends, isFile := namesFile[f.Name]
		switch {
		case valuesOf(f.Name) != nil:
			register(cmd, f.Name, oneOf(valuesOf(f.Name)))
		case isFile && len(ends) > 0:
			register(cmd, f.Name, cobra.FixedCompletions(ends, cobra.ShellCompDirectiveFilterFileExt))
		case namesDir[f.Name]:
			register(cmd, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
		case !isFile:
			register(cmd, f.Name, cobra.NoFileCompletions)
		}
	})
}

// oneOf completes to those of the values that begin as what was typed.
func oneOf(values []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(values, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

func beginning(values []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(values), func(v cobra.Completion) bool { return !strings.HasPrefix(v, typed) })
}

// register gives a flag that there is, and that has none yet, a completion.
func register(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // it fails for no other reason
}
