// Package inducebench measures wrapper induction: rules are made of a few labelled pages of a synthetic template and
// applied to others of it, as the crawl applies them.
//
// F1 is 2·precision·recall / (precision + recall) over values: each value of a field of a held-out page counts once. A
// value that the rule takes and the page does not have in that field is wrong; a value of the page that the rule does
// not take is missing; a wrong value in place of the right one is both.
package inducebench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/induce"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/templates"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Setup is what is measured.
type Setup struct {
	Families []templates.Family
	Examples int // of each template
	Also     int // further pages of each, without values
	HeldOut  int // pages of each that the rule is applied to
}

// Pages of a template: examples from 0, further ones from alsoFrom, held-out ones from heldFrom; half of the last are
// of a later build of the site, with other hashed names.
const (
	alsoFrom  = 100
	heldFrom  = 150
	laterFrom = 250
)

// Count counts values.
type Count struct{ Right, Wrong, Missing int }

// Add adds another count.
func (c *Count) Add(o Count) {
	c.Right, c.Wrong, c.Missing = c.Right+o.Right, c.Wrong+o.Wrong, c.Missing+o.Missing
}

// F1 is the harmonic mean of precision and recall; 0 where nothing is right.
func (c Count) F1() float64 {
	return 2 * float64(c.Right) / math.Max(1, float64(2*c.Right+c.Wrong+c.Missing))
}

// Outcome is what came of one template.
type Outcome struct {
	Site   *templates.Site
	Count  Count
	Fields map[string]*Count
	Rule   crawl.SiteRule
}

// Run measures all templates.
func Run(ctx context.Context, s Setup) (out []Outcome, err error) {
	for _, site := range templates.Sites(s.Families) {
		o, err := s.site(ctx, site)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", site.Family.Name, site.Number, err)
		}
		out = append(out, o)
	}
	return out, nil
}

// Ask makes the question for a template: examples as a person would give them, who copies what is there.
func (s Setup) Ask(site *templates.Site) (examples []induce.Example, opt induce.Options, err error) {
	for _, p := range chosen(site, s.Examples) {
		page, err := asked(p)
		if err != nil {
			return nil, opt, err
		}
		e := induce.Example{Page: page}
		for _, f := range sorted(p.Fields) {
			e.Want = append(e.Want, induce.Wanted{Field: f, Values: p.Fields[f]})
		}
		examples = append(examples, e)
	}
	for n := range s.Also {
		page, err := asked(site.Page(alsoFrom + n))
		if err != nil {
			return nil, opt, err
		}
		opt.Also = append(opt.Also, page)
	}
	return examples, opt, nil
}

// chosen are the pages that a person takes as examples: each of the first dozen that shows most fields which are not on
// those taken before, and the first of such.
func chosen(site *templates.Site, most int) (out []templates.Page) {
	seen := map[string]bool{}
	var all []templates.Page
	for n := range max(12, most) {
		all = append(all, site.Page(n))
	}
	for len(out) < most {
		best, news := 0, -1
		for i := range all {
			n := 0
			for f, values := range all[i].Fields {
				n += newTo(seen, f, values)
			}
			if n > news {
				best, news = i, n
			}
		}
		for f, values := range all[best].Fields {
			seen[f] = true
			seen[f+"[]"] = seen[f+"[]"] || len(values) > 1
		}
		out = append(out, all[best])
		all = slices.Delete(all, best, best+1)
	}
	return out
}

// newTo is 1 for a field that was not seen, or not with several values.
func newTo(seen map[string]bool, field string, values []string) int {
	if !seen[field] || len(values) > 1 && !seen[field+"[]"] {
		return 1
	}
	return 0
}

func asked(p templates.Page) (induce.Page, error) {
	u, err := weburl.Parse(p.URL)
	return induce.Page{Name: p.URL, URL: u, Body: p.HTML}, err
}

func sorted[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s Setup) site(ctx context.Context, site *templates.Site) (out Outcome, err error) {
	examples, opt, err := s.Ask(site)
	if err != nil {
		return out, err
	}
	opt.Stop = ctx.Err
	res, err := induce.Induce(examples, opt)
	if err != nil {
		return out, err
	}
	return s.apply(res.Rule, site)
}

// apply applies a rule to the held-out pages of a template.
func (s Setup) apply(rule crawl.SiteRule, site *templates.Site) (out Outcome, err error) {
	out = Outcome{Site: site, Rule: rule, Fields: map[string]*Count{}}
	rules, err := parser.CompileRules([]crawl.SiteRule{rule})
	if err != nil {
		return out, fmt.Errorf("the rule is not accepted: %w", err)
	}
	for n := range s.HeldOut {
		at := heldFrom + n
		if n >= (s.HeldOut+1)/2 {
			at = laterFrom + n
		}
		if err := out.page(rules, site.Page(at)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// page applies the rule to a held-out page.
func (o *Outcome) page(rules *parser.Rules, p templates.Page) error {
	u, err := weburl.Parse(p.URL)
	if err != nil {
		return err
	}
	root, err := html.Parse(bytes.NewReader(p.HTML))
	if err != nil {
		return err
	}
	got := map[string][]any{}
	rules.Trace(u, root, func(t parser.Traced) bool { got[t.Field] = append(got[t.Field], t.Value); return true })
	for f := range p.Fields {
		if got[f] == nil {
			got[f] = nil
		}
	}
	for f, values := range got {
		c := compare(values, p.Fields[f])
		if o.Fields[f] == nil {
			o.Fields[f] = &Count{}
		}
		o.Fields[f].Add(c)
		o.Count.Add(c)
	}
	return nil
}

// compare counts the values that a rule took, each once; order does not count.
func compare(got []any, want []string) (c Count) {
	rest := slices.Clone(want)
	for _, v := range got {
		i := slices.IndexFunc(rest, func(w string) bool { return equal(v, w) })
		if i < 0 {
			c.Wrong++
			continue
		}
		c.Right++
		rest = slices.Delete(rest, i, i+1)
	}
	c.Missing = len(rest)
	return c
}

// equal compares a value of a field with a text: a number with what the text is as a number.
func equal(got any, want string) bool {
	text := parser.TextOfValue(got)
	if _, is := got.(float64); is {
		if v, ok := parser.InType("number", want); ok {
			return v == got
		}
	}
	return strings.Join(strings.Fields(text), " ") == want || strings.HasSuffix(text, "T00:00:00Z") &&
		strings.TrimSuffix(text, "T00:00:00Z") == want
}

// Print writes a line a family, and the sums.
func Print(w io.Writer, out []Outcome) error {
	if _, err := fmt.Fprintf(w, "%-10s %9s %7s %7s %8s %6s %6s\n", "", "templates", "right", "wrong", "missing", "F1",
		"worst"); err != nil {
		return err
	}
	for from := 0; from < len(out); {
		to := from
		for to < len(out) && out[to].Site.Family.Name == out[from].Site.Family.Name {
			to++
		}
		if err := line(w, out[from].Site.Family.Name, out[from:to]); err != nil {
			return err
		}
		from = to
	}
	return line(w, "all", out)
}

func line(w io.Writer, name string, out []Outcome) error {
	sum, worst := Count{}, 1.0
	for i := range out {
		sum.Add(out[i].Count)
		worst = min(worst, out[i].Count.F1())
	}
	_, err := fmt.Fprintf(w, "%-10s %9d %7d %7d %8d %6.3f %6.3f\n", name, len(out), sum.Right, sum.Wrong, sum.Missing,
		sum.F1(), worst)
	return err
}

// Sum adds up all templates.
func Sum(out []Outcome) (sum Count) {
	for i := range out {
		sum.Add(out[i].Count)
	}
	return sum
}
