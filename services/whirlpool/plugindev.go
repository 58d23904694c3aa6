package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk"
)

func newPluginInit() *cobra.Command {
	var kit string
	cmd := &cobra.Command{Use: "init OWNER/NAME [DIR]", Args: cobra.RangeArgs(1, 2),
		Short: "Write a plug-in to begin with, into a new directory",
		Long: "Init writes a plug-in that works: descriptor, source, the kit it is written with, and a test. DIR is NAME " +
			"where it is left out.\n\nKits:\n" + kits()}
	cmd.Flags().StringVar(&kit, "kit", "go", "what it is written `with`: "+strings.Join(kitNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("kit", cobra.FixedCompletions(kitNames(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		files, err := sdk.Template(kit, args[0])
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		_, dir, _ := strings.Cut(args[0], "/")
		if len(args) == 2 {
			dir = args[1]
		}
		if err := writeTemplate(dir, files); err != nil {
			return err
		}
		word := shellWord(dir)
		fmt.Fprintf(cmd.OutOrStdout(), "%s is in %s\nnext: whirlpool plugin build %s && whirlpool plugin test %s\n", args[0],
			dir, word, word)
		return nil
	})
	return cmd
}

// writeTemplate writes files into a directory that is new or empty.
func writeTemplate(dir string, files fs.FS) error {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty: name another directory, whirlpool plugin init OWNER/NAME DIR", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.CopyFS(dir, files)
}

func newPluginBuild() *cobra.Command {
	cmd := &cobra.Command{Use: "build [DIR]", Args: cobra.MaximumNArgs(1),
		Short: "Compile a plug-in, and make the package that is signed and pushed"}
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		dir := dirOf(args)
		if err := buildPlugin(cmd, dir); err != nil {
			return err
		}
		p, err := packDir(dir)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, p.FileName())
		if err := os.WriteFile(name, p.Bytes, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %.1f KiB, package %s\n%s\n", p.Descriptor.Use(), p.Descriptor.Entry,
			float64(len(p.Entry()))/1024, name, p.Digest)
		return nil
	})
	return cmd
}

func dirOf(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// buildPlugin runs the programs that compile it.
func buildPlugin(cmd *cobra.Command, dir string) error {
	if err := wantDir(dir); err != nil {
		return err
	}
	build, err := sdk.BuildOf(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, step := range build.Steps {
		if _, err := exec.LookPath(step[0]); err != nil {
			return fmt.Errorf("%s is needed to build it, and was not found: install %s; or build elsewhere, and push from there",
				step[0], build.Needs)
		}
		run := exec.CommandContext(cmd.Context(), step[0], step[1:]...) //nolint:gosec // by the kit, not by input
		run.Dir, run.Env = dir, append(os.Environ(), build.Env...)
		run.Stdout, run.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
		if err := run.Run(); err != nil {
			return fmt.Errorf("%s: %w (it needs %s)", strings.Join(step, " "), err, build.Needs)
		}
	}
	return nil
}

func kitNames() []string { return slices.Sorted(maps.Keys(sdk.Languages())) }

func kits() string {
	var b strings.Builder
	for _, name := range kitNames() {
		fmt.Fprintf(&b, "  %-16s %s\n", name, sdk.Languages()[name])
	}
	return b.String()
}

// shellWord is how a shell takes a text for one word.
func shellWord(text string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@%,:=", r)
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
