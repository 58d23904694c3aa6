package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// inducer is what `whirlpool tool induce` was asked.
type inducer struct {
	examples exampleFlag
	also     []string
	name     string
	asJSON   bool
	pages    pageSource
}

func toolInduce() *cobra.Command {
	in := &inducer{}
	cmd := &cobra.Command{
		Use:   "induce --example PAGE FIELD=VALUE... --example PAGE FIELD=VALUE...",
		Short: "Make a site rule from two to five example pages",
		Long: `Induce makes an entry of "rules:" for a job file from pages and the values that are wanted from them, and shows
what it takes from each. It prints a job file: what is no rule is a comment.

A PAGE is a file, a URL or, with -o, the URL of a page that a crawl has stored with its body (--keep-bodies or --warc).
URLs are fetched as a crawl does, with robots.txt, delays and the guard of private addresses; with -o nothing is
fetched.

A field with several values is a list: give all of them, in the order of the page; FIELD[]=VALUE says that it is one
though the page has but one. "FIELD=" says that the page has no such value. Further pages of the same template (--also;
with -o up to 20 are taken by themselves) need no values: they tell selectors that last from those that fit by chance.

The exit status is 1 where a field was not found: the texts that are most like its value are told.`,
		Example: `  whirlpool tool induce --example a.html title='Night baker' pay=31000 --example b.html title=Gardener pay=28500
  whirlpool tool induce -o jobs --example https://example.com/jobs/1 title='Night baker' skill[]=Sourdough \
      --example https://example.com/jobs/2 title=Gardener skill=Botany skill=Patience > rules.yml`,
		Args: cobra.ArbitraryArgs,
	}
	in.examples.set = cmd.Flags()
	cmd.Flags().Var(&in.examples, "example", "`PAGE` whose values follow as FIELD=VALUE; several")
	cmd.Flags().StringArrayVar(&in.also, "also", nil, "further `PAGE` of the template, or a directory of them; several")
	cmd.Flags().StringVar(&in.name, "name", "", "name of the rule")
	cmd.Flags().BoolVar(&in.asJSON, "json", false, "print JSON, with the selectors that would do as well")
	dirFlag(cmd, &in.pages.dir)
	cmd.Flags().Lookup("out").Usage = "directory of a crawl whose stored pages are taken"
	cmd.Flags().BoolVar(&in.pages.allowPrivate, "allow-private", false, "permit loopback and private addresses")
	cmd.RunE = failing(in.run)
	return cmd
}

// exampleFlag collects pages, and how many arguments were before each: the arguments behind it are its values.
type exampleFlag struct {
	set   *pflag.FlagSet
	pages []string
	from  []int
}

// Set implements pflag.Value.
func (e *exampleFlag) Set(page string) error {
	e.pages, e.from = append(e.pages, page), append(e.from, e.set.NArg())
	return nil
}

// String implements pflag.Value.
func (e *exampleFlag) String() string { return strings.Join(e.pages, " ") }

// Type implements pflag.Value.
func (e *exampleFlag) Type() string { return "page" }

// wanted are the values of each page.
func (e *exampleFlag) wanted(args []string) (out [][]induce.Wanted, err error) {
	switch {
	case len(e.pages) == 0:
		return nil, usage("tool induce: give example pages: --example PAGE FIELD=VALUE...")
	case e.from[0] > 0:
		return nil, usage("tool induce: %q stands before the first --example: values follow their page", args[0])
	}
	for i := range e.pages {
		to := len(args)
		if i+1 < len(e.from) {
			to = e.from[i+1]
		}
		want, err := wantedOf(args[e.from[i]:to])
		if err != nil {
			return nil, err
		}
		out = append(out, want)
	}
	return out, nil
}

// wantedOf reads FIELD=VALUE.
func wantedOf(args []string) (out []induce.Wanted, err error) {
	at := map[string]int{}
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		name, list := strings.CutSuffix(name, "[]")
		if !ok || name == "" {
			return nil, usage("tool induce: %q: want FIELD=VALUE", a)
		}
		i, known := at[name]
		if !known {
			i = len(out)
			at[name] = i
			out = append(out, induce.Wanted{Field: name})
		}
		if out[i].List = out[i].List || list; value != "" {
			out[i].Values = append(out[i].Values, value)
		}
	}
	return out, nil
}

func (in *inducer) run(cmd *cobra.Command, args []string) error {
	wanted, err := in.examples.wanted(args)
	if err != nil {
		return err
	}
	pages, also, err := in.pages.read(cmd, in.examples.pages, in.also)
	if err != nil {
		return err
	}
	examples := make([]induce.Example, len(pages))
	for i := range pages {
		examples[i] = induce.Example{Page: pages[i], Want: wanted[i]}
	}
	got, err := induce.Induce(examples, induce.Options{Name: in.name, Also: also, Stop: cmd.Context().Err})
	if err != nil {
		return err
	}
	if in.asJSON {
		err = report.WriteJSON(cmd.OutOrStdout(), got)
	} else {
		err = showInduced(cmd.OutOrStdout(), got)
	}
	if lost := len(got.Fields) - len(got.Rule.Fields); err == nil && lost > 0 {
		return exitStatus{exitFailure,
			fmt.Errorf("%d of %d fields were not found: the comments say what is like them", lost, len(got.Fields))}
	}
	return err
}

// showInduced writes a job file with the rule, and what speaks for it in comments.
func showInduced(w io.Writer, got *induce.Result) error {
	var rules []crawl.SiteRule
	if len(got.Rule.Fields) > 0 {
		rules = []crawl.SiteRule{got.Rule}
	}
	text, err := jobfile.MarshalRules(rules)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.Write(text)
	for i := range got.Fields {
		tellField(&b, &got.Fields[i], got.Also)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// tellField writes what was found of a field as comments.
func tellField(b *strings.Builder, f *induce.Field, also int) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "# "+format+"\n", args...) }
	b.WriteString("\n")
	if !f.Found {
		line("%s: not found", f.Rule.Name)
		for _, l := range f.Lacks {
			line("  %s has no %q", plaintext.Of(l.Page, 200), plaintext.Of(l.Value, 200))
			for _, n := range l.Nearest {
				line("    most like it: %q", n)
			}
		}
		if len(f.Lacks) == 0 {
			line("  every page has its values, but no selector gives them on all")
		}
		return
	}
	line("%s: by %s", f.Rule.Name, plaintext.Of(f.Why, 300))
	for _, v := range f.Values {
		texts := make([]string, len(v.Values))
		for i, s := range v.Values {
			texts[i] = plaintext.Of(s, 80)
		}
		line("  %-40s %s", plaintext.Of(v.Page, 200), strings.Join(texts, " | "))
	}
	switch {
	case f.OnAlso > 0:
		line("  on %d of %d further pages, once on %d; %.0f %% of the other selectors agree there", f.OnAlso, also, f.Once,
			100*f.Agree)
	case also > 0:
		line("  on none of %d further pages", also)
	}
	for _, n := range f.Notes {
		line("  note: %s", plaintext.Of(n, 300))
	}
}
