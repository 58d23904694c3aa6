package induce

import (
	"context"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Induce makes a rule. A field that is not found is told in the result; an error is one of the question (ErrInvalid) or
// of opt.Stop. Further pages that cannot be read are left out.
func Induce(examples []Example, opt Options) (*Result, error) {
	if err := check(examples, &opt); err != nil {
		return nil, err
	}
	if opt.Stop == nil {
		opt.Stop = context.Background().Err
	}
	trees := make([]*tree, len(examples))
	for i := range examples {
		var err error
		if trees[i], err = parse(&examples[i].Page); err != nil {
			return nil, err
		}
	}
	var also []*tree
	for i := range opt.Also {
		if t, err := parse(&opt.Also[i]); err == nil {
			also = append(also, t)
		}
	}
	out := &Result{Also: len(also), Rule: crawl.SiteRule{Name: opt.Name}}
	if out.Rule.Name == "" {
		out.Rule.Name = "induced"
	}
	out.Rule.Host, out.Rule.Match = conditions(trees, also)
	for _, name := range fieldsOf(examples) {
		f, err := fieldOf(name, examples, trees, opt.Stop).choose(also)
		if err != nil {
			return nil, err
		}
		if out.Fields = append(out.Fields, f); f.Found {
			out.Rule.Fields = append(out.Rule.Fields, f.Rule)
		}
	}
	return out, nil
}

// fieldOf is what is wanted of one field on each example.
func fieldOf(name string, examples []Example, trees []*tree, stop func() error) *field {
	f := &field{name: name, trees: trees, want: make([]*[]string, len(trees)), stop: stop, known: map[string]*wantedText{}}
	for i := range examples {
		for _, w := range examples[i].Want {
			if w.Field != name {
				continue
			}
			f.list = f.list || w.List
			if f.want[i] == nil {
				f.want[i] = &[]string{}
			}
			for _, v := range w.Values {
				*f.want[i] = append(*f.want[i], trees[i].written(v))
			}
		}
		f.list = f.list || f.want[i] != nil && len(*f.want[i]) > 1
	}
	return f
}

// verified applies a candidate to the examples as the crawl does: what was tried here is no more than a guess at that.
func (f *field) verified(g *fitted) bool {
	rules, err := parser.CompileRules([]crawl.SiteRule{{Fields: []crawl.FieldRule{g.rule(f.name)}}})
	if err != nil {
		return false
	}
	for i, t := range f.trees {
		var got []string
		rules.Trace(weburl.URL{}, t.root, func(v parser.Traced) bool {
			got = append(got, fold(parser.TextOfValue(v.Value)))
			return true
		})
		if !slices.Equal(got, g.values[i]) {
			return false
		}
	}
	return true
}
