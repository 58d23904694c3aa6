package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	// quoted is a command line that a message or a document quotes; shown is one on a line of its own, in a document.
	quoted = regexp.MustCompile("`(?:\\$ )?whirlpool ([a-z][^`\n]*)`")
	shown  = regexp.MustCompile(`(?m)^\s*(?:\$ |bin/|\./)?whirlpool ([a-z][a-z]+ [^\n]*|[a-z]+$)`)
	word   = regexp.MustCompile(`^[a-z][a-z-]*$`)
	option = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// Every command line that a message, a help text or a document names can be given: the commands and their flags exist.
func TestCommandsThatAreNamedExist(t *testing.T) {
	root, found := newRoot(), 0
	root.InitDefaultCompletionCmd()
	check := func(file, line string) {
		found++
		if why := missing(root, line); why != "" {
			t.Errorf("%s names `whirlpool %s`: %s", file, line, why)
		}
	}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && (e.Name() == ".git" || e.Name() == "testdata" || e.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return err
		}
		ext := filepath.Ext(path)
		if ext != ".md" && (ext != ".go" || strings.HasSuffix(path, "_test.go")) || e.Name() == "CHANGELOG.md" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(data)
		if ext == ".go" { // a raw string is interrupted for a backquote, and a long one for the line
			text = strings.NewReplacer("\"` + \"`", "`", "` + \"`", "`", "`\" + `", "`", "\" +\n", "\x00").Replace(text)
			text = regexp.MustCompile("\x00[\t ]*\"").ReplaceAllString(text, "")
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			check(path, m[1])
		}
		if ext == ".md" || strings.Contains(text, "cobra.Command") {
			for _, m := range shown.FindAllStringSubmatch(text, -1) {
				check(path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("only %d command lines were found: the test proves nothing", found)
	}
	for _, bad := range []string{"mend", "audit --deep", "ring burn", "repair --force"} {
		if missing(root, bad) == "" {
			t.Errorf("whirlpool %s is taken for a command", bad)
		}
	}
}

// missing says what of a command line does not exist.
func missing(root *cobra.Command, line string) string {
	line, _, _ = strings.Cut(line, "  #")
	cmd, args := root, strings.Fields(line)
	for i, a := range args {
		if sub := subcommand(cmd, a); sub != nil {
			cmd = sub
			continue
		}
		if i == 0 || cmd.HasSubCommands() && word.MatchString(a) {
			return "there is no command " + a
		}
		break
	}
	for _, a := range args {
		if a == "&&" || a == "|" || a == "||" || a == ";" || a == "#" {
			break
		}
		name := option.FindString(a)
		if name == "" || name == "--help" || name == "--version" || cmd.DisableFlagParsing {
			continue
		}
		if cmd.Flags().Lookup(name[2:]) == nil && cmd.InheritedFlags().Lookup(name[2:]) == nil {
			return cmd.Name() + " has no flag " + name
		}
	}
	return ""
}

func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}
