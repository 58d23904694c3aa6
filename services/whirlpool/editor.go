package main

import (
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
)

// runEditor runs an editor, which may have arguments of its own, on a file.
func runEditor(cmd *cobra.Command, editor, file string) error {
	parts := strings.Fields(editor)
	c := exec.CommandContext(cmd.Context(), parts[0], append(parts[1:], file)...) //nolint:gosec // the user's own editor
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	return c.Run()
}
