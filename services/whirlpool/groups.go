package main

import "github.com/spf13/cobra"

// commandDistance is how many letters may be wrong in the name of a command that is suggested: cobra's own number, for
// the commands of whirlpool itself.
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
	group.SuggestionsMinimumDistance = commandDistance
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		hint := ""
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			hint = "did you mean " + like[0] + "? "
		}
		return usage("%s has no command %q: %s`%s --help` lists them", cmd.CommandPath(), args[0], hint, cmd.CommandPath())
	}
}
