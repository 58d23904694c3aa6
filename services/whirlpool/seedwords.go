package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkWords refuses arguments that stand where URLs do and are plain words: a flag without its dashes, a key of a job
// file, help. As hosts they would be seeds, and nobody would notice before they failed. A host that is called so may be
// named with its scheme.
func checkWords(cmd *cobra.Command, args []string) error {
	for _, a := range args {
		name, _, setting := strings.Cut(a, "=")
		switch {
		case setting && !strings.ContainsAny(name, ".:/?"): // no host has a = in it
		case strings.ContainsAny(a, ".:/") || strings.EqualFold(a, "localhost"):
			continue
		}
		if a == "help" {
			return usage("help is no URL: `%s --help` is meant, or http://help/", cmd.CommandPath())
		}
		if flag := withoutValue(cmd); flag != "" && !setting {
			return usage("%q is no URL: if it is the value of --%s, write --%s=%s", a, flag, flag, a)
		}
		if like := flagsLike(cmd, strings.ToLower(strings.ReplaceAll(name, "_", "-"))); len(like) > 0 {
			return usage("%q is no URL: did you mean --%s? `%s --help` lists all flags", a, strings.Join(like, " or --"),
				cmd.CommandPath())
		}
		if setting {
			return usage("%q is no URL: settings have flags, which `%s --help` lists", a, cmd.CommandPath())
		}
		return usage("%q is no URL: if it is a host, name it http://%s/; `%s --help` says more", a, a, cmd.CommandPath())
	}
	return nil
}

// withoutValue names a flag that was given without a value and may have one, which stands behind a = then; empty: there
// is none. The file that --cluster may name is no word.
func withoutValue(cmd *cobra.Command) (name string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Name != "cluster" && f.Value.Type() != "bool" && f.Value.String() == f.NoOptDefVal {
			name = f.Name
		}
	})
	return name
}
