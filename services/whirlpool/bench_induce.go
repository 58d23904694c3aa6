package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/inducebench"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/templates"
)

func benchInduce() *cobra.Command {
	s := inducebench.Setup{Examples: 3, HeldOut: 20}
	practice, later := false, false
	cmd := &cobra.Command{
		Use:   "induce",
		Short: "How good site rules from examples are: F1 over fields of held-out pages of 50 synthetic templates",
		Long: `Makes a rule for each template from a few of its pages, as "whirlpool tool induce" does, applies it to others
as a crawl does, and counts the values that are right, wrong and missing. Half of the others are of a later build of the
site, in which names that programs made are other ones. The families of templates were written before the inducer; those
that it was tuned on are others (--practice). The figures are the same on every machine.`,
		Args:    cobra.NoArgs,
		PreRunE: counts("examples", "pages"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			switch s.Families = templates.Held(); {
			case practice:
				s.Families = templates.Practice()
			case later:
				s.Families = templates.Later()
			}
			if s.Examples > 10 || s.HeldOut > 50 || s.Also < 0 || s.Also > 50 {
				return usage("--examples %d --pages %d --also %d: at most 10, 50 and 50", s.Examples, s.HeldOut, s.Also)
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "whirlpool bench induce --examples %d --also %d --pages %d --practice=%v --later=%v\n", s.Examples,
				s.Also, s.HeldOut, practice, later)
			got, err := inducebench.Run(cmd.Context(), s)
			if err != nil {
				return err
			}
			return inducebench.Print(out, got)
		}),
	}
	cmd.Flags().IntVar(&s.Examples, "examples", s.Examples, "labelled pages of each template")
	cmd.Flags().IntVar(&s.Also, "also", s.Also, "further pages of each, without values")
	cmd.Flags().IntVar(&s.HeldOut, "pages", s.HeldOut, "held-out pages of each")
	cmd.Flags().BoolVar(&practice, "practice", false, "the families that the inducer was tuned on")
	cmd.Flags().BoolVar(&later, "later", false, "families that were written after the inducer, with other layouts")
	cmd.MarkFlagsMutuallyExclusive("practice", "later")
	return cmd
}
