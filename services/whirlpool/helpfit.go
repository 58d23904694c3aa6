package main

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is how long a line of help may be, in characters.
const helpWidth = 120

// fitHelp breaks the lines of a command's help that are too long, and those of its subcommands: some are put together
// of several texts.
func fitHelp(c *cobra.Command) {
	lines := strings.Split(c.Long, "\n")
	for i, line := range lines {
		lines[i] = brokenAt(line, helpWidth)
	}
	c.Long = strings.Join(lines, "\n")
	for _, sub := range c.Commands() {
		fitHelp(sub)
	}
}

// brokenAt breaks a line at spaces where it is longer than width, in characters. A word that is too long stays whole.
func brokenAt(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	var out strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			out.WriteByte('\n')
			at = 0
		default:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += n
	}
	return out.String()
}
