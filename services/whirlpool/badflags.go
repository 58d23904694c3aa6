package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/nearest"
)

// flagDistance is how many letters may be wrong in the name of a flag that is suggested.
const flagDistance = 2

// badFlag says what is wrong with a flag in words of ours, and what to write in its place: pflag names the flag, or
// what its Go code could not parse, and no more.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return cmd.RunE(cmd, args) // it has no such command, and the flags are those of the command that was meant
	}
	switch {
	case errors.As(err, &unknown):
		return usage("%w: %s`%s --help` lists all flags", err, flagMeant(cmd, unknown), cmd.CommandPath())
	case errors.As(err, &value):
		if want := flagWants(value); want != "" {
			return usage("--%s %q: want %s", value.GetFlag().Name, value.GetValue(), want)
		}
		return usage("--%s: %w", value.GetFlag().Name, value.Unwrap())
	case errors.As(err, &missing):
		_, text := pflag.UnquoteUsage(missing.GetFlag())
		return usage("--%s wants a value: %s", missing.GetFlag().Name, text)
	}
	return err
}

// flagWants says what a flag of one of Go's own types wants. It is empty where the flag's own error says so.
func flagWants(e *pflag.InvalidValueError) string {
	var number *strconv.NumError
	switch kind := e.GetFlag().Value.Type(); {
	case kind == "duration" && strings.HasPrefix(e.Unwrap().Error(), "time: "):
		return "a number with a unit, as in 500ms, 1s or 2m"
	case !errors.As(e.Unwrap(), &number):
		return ""
	case errors.Is(number, strconv.ErrRange):
		return "a smaller number"
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	default:
		return "a whole number, as in 5000"
	}
}

// flagMeant says which flag of the command was probably meant by one that it has not.
func flagMeant(cmd *cobra.Command, e *pflag.NotExistError) string {
	name := e.GetSpecifiedName()
	if short := e.GetSpecifiedShortnames(); short != "" {
		name, _, _ = strings.Cut(short, "=")
		if hint := flagElsewhere(cmd, "-"+name); hint != "" {
			return hint
		}
		if len(name) == 1 {
			return ""
		}
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if hint := flagElsewhere(cmd, name); hint != "" {
		return hint
	}
	if like := flagsLike(cmd, name); len(like) > 0 {
		return "did you mean --" + strings.Join(like, " or --") + "? "
	}
	return ""
}

// flagsLike are the flags of the command whose names are nearly this one, or have it as a part.
func flagsLike(cmd *cobra.Command, name string) []string {
	var names, parts []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, f.Name)
		if f.Name == name || strings.HasSuffix(f.Name, "-"+name) || strings.HasPrefix(f.Name, name+"-") {
			parts = append(parts, f.Name)
		}
	})
	most := flagDistance
	if len(name) < 2*flagDistance { // of a short name that would be any other
		most = 0
	}
	if best := nearest.To(name, names, most); best != "" {
		return []string{best}
	}
	slices.Sort(parts)
	return parts[:min(len(parts), 3)]
}

// oneDash refuses the whole name of a flag behind one dash where its first letter is another flag, with a value:
// -order would be -o rder, a directory of that name.
func oneDash(root *cobra.Command, args []string) error {
	cmd, _, err := root.Find(args)
	if err != nil {
		return nil //nolint:nilerr // cobra says it
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		name, dash := strings.CutPrefix(a, "-")
		name, _, _ = strings.Cut(name, "=")
		meant := "--" + name
		if cmd.Flags().Lookup(name) == nil {
			meant = foreignFlags[name]
		}
		if !dash || len(name) < 2 || !strings.HasPrefix(meant, "--") {
			continue
		}
		if f := cmd.Flags().ShorthandLookup(name[:1]); f != nil && f.NoOptDefVal == "" {
			return usage("-%s is read as -%s %s: write %s, or --%s=%s", name, name[:1], name[1:], meant, f.Name, name[1:])
		}
	}
	return nil
}
