package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

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
		if r := whirlpool(t, strings.Fields(line)...); r.exit != exitUsage || r.stdout != "" ||
			!strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d, want %q in %s", line, r.exit, want, r.stderr)
		}
	}
	if out := must(t, "exec"); !strings.Contains(out, "delete") {
		t.Errorf("exec alone prints %q", out)
	}
}

// Where a document names several commands with | between them, each has the flags of the line.
func TestEveryCommandOfALineHasItsFlags(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	line, found := regexp.MustCompile(`(?m)^whirlpool ((?:[a-z]+ )?)([a-z-]+(?:\|[a-z-]+)+)(.*)$`), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(data), -1) {
			for name := range strings.SplitSeq(m[2], "|") {
				found++
				if why := missing(newRoot(), m[1]+name+m[3]); why != "" {
					t.Errorf("%s: whirlpool %s%s%s: %s", file, m[1], name, m[3], why)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d commands were found: the test proves nothing", found)
	}
}

// No line of a help text is longer than 120 characters.
func TestHelpTextsFit(t *testing.T) {
	seen := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, text := range []string{c.Short, c.Long} {
			for line := range strings.SplitSeq(text, "\n") {
				seen++
				if n := utf8.RuneCountInString(line); n > helpWidth {
					t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), n, line)
				}
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRoot())
	if seen < 500 {
		t.Errorf("only %d lines were found: the test proves nothing", seen)
	}
}
