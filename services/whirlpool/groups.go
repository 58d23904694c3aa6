package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// commandDistance is how many letters may be wrong in the name of a command that is suggested.
const commandDistance = 2

// refuseUnknown makes a group of commands, and the groups in it, refuse what is none of them: cobra prints the help and
// calls that a success. Alone a group prints its help.
func refuseUnknown(group *cobra.Command) {
	for _, c := range group.Commands() {
		refuseUnknown(c)
	}
	if !group.HasSubCommands() || group.Runnable() {
		return
	}
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		hint := ""
		if like := commandsLike(cmd, args[0]); len(like) > 0 {
			hint = "did you mean " + like[0] + "? "
		}
		return usage("%s has no command %q: %s`%s --help` lists them", cmd.CommandPath(), args[0], hint, cmd.CommandPath())
	}
}

// commandsLike are the commands whose names are nearly this one: of four letters or fewer one may be wrong.
func commandsLike(group *cobra.Command, name string) []string {
	group.SuggestionsMinimumDistance = min(commandDistance, (len(name)+1)/3)
	return group.SuggestionsFor(name)
}

// foreignCommands are words by which people who come from other programs look for a command, and the command.
var foreignCommands = map[string]string{"fetch": "crawl", "get": "crawl", "scrape": "crawl", "spider": "crawl",
	"run": "crawl", "start": "crawl", "runspider": "crawl", "download": "crawl", "mirror": "crawl", "c": "crawl",
	"shell": "try", "parse": "try", "view": "try", "test": "try", "inject": "seed", "submit": "seed", "add": "seed",
	"readdb": "status", "stats": "status", "info": "status", "ps": "status", "why": "explain", "check": "audit",
	"verify": "audit", "validate": "tool jobfile", "dump": "export", "convert": "export", "list": "jobs", "ls": "jobs",
	"server": "serve", "studio": "serve", "ui": "serve", "web": "serve", "update": "set", "edit": "set",
	"version": "--version", "rm": "delete", "remove": "delete", "grep": "search", "find": "search", "cancel": "stop",
	"continue": "resume", "users": "key"}

// unknownCommand refuses what is no command of whirlpool, and names the one that was probably meant. A URL in its place
// is to be crawled.
func unknownCommand(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err == nil || cmd != root {
		return nil // commands below say it themselves
	}
	name, after := "", ""
	for i, a := range rest {
		if !strings.HasPrefix(a, "-") {
			name, after = a, strings.Join(rest[i+1:], " ")
			break
		}
	}
	meant := foreignCommands[strings.ToLower(name)]
	switch like := commandsLike(root, name); {
	case strings.Contains(name, "://") || strings.Contains(name, ".") && !strings.ContainsAny(name, " \t"):
		meant = "crawl " + name
	case meant == "" && len(like) > 0:
		meant = like[0]
	}
	if meant == "" {
		return usage("there is no command %q: `whirlpool --help` lists them", name)
	}
	if after != "" {
		meant += " " + after
	}
	return usage("there is no command %q: did you mean `whirlpool %s`? `whirlpool --help` lists them", name, meant)
}
