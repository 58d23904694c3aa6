package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every group of commands refuses what is none of its commands.
func TestEveryGroupRefusesUnknownCommands(t *testing.T) {
	var groups []string
	var find func(c *cobra.Command)
	find = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			find(sub)
		}
		if c.HasSubCommands() {
			groups = append(groups, c.CommandPath())
		}
	}
	find(newRoot())
	for _, group := range groups {
		root, out := newRoot(), new(bytes.Buffer)
		root.SetOut(out)
		root.SetErr(out)
		root.SetArgs(append(strings.Fields(group)[1:], "no-such-command", "x"))
		if root.Execute() == nil {
			t.Errorf("%s takes any command, and prints %q", group, out)
		}
	}
	if len(groups) < 10 {
		t.Errorf("only %d groups were found: the test proves nothing", len(groups))
	}
}

func TestAMistypedCommandOfAGroup(t *testing.T) {
	for line, want := range map[string]string{
		"exec delte x":        "did you mean delete? `whirlpool exec --help`",
		"workflow nope":       `whirlpool workflow has no command "nope"`,
		"schedule nope":       "`whirlpool schedule --help`",
		"alert nope":          "`whirlpool alert --help`",
		"key nope":            "`whirlpool key --help`",
		"context nope":        "`whirlpool context --help`",
		"plugin nope":         "`whirlpool plugin --help`",
		"bench nope":          "`whirlpool bench --help`",
		"experiment nope":     "`whirlpool experiment --help`",
		"tool nope":           "`whirlpool tool --help`",
		"tool topic trian":    "did you mean train?",
		"serve key nope":      "`whirlpool serve key --help`",
		"alert rule-delte-it": "has no command",
	} {
		if r := whirlpool(t, strings.Fields(line)...); r.exit != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, want %q in %s", line, r.exit, want, r.stderr)
		}
	}
	if out := must(t, "exec"); !strings.Contains(out, "delete") {
		t.Errorf("exec alone prints %q", out)
	}
}
