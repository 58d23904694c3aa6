package induce

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/elements"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
)

// field is a field while its selector is looked for.
type field struct {
	name  string
	list  bool
	trees []*tree     // of the examples
	want  []*[]string // of each; nil: nothing is known
	stop  func() error
	known map[string]*wantedText
}

// wanted is a value with what it is as a number or a date.
func (f *field) wanted(v string) *wantedText {
	w, known := f.known[v]
	if !known {
		w = wantedOf(v)
		f.known[v] = w
	}
	return w
}

// hits are the texts that a selector matches on a page, as far as they are of use.
func (c *candidate) hits(t *tree, stop func() error) (texts []string, err error) {
	nodes := t.nodes
	if c.tag != "" {
		nodes = t.tags[c.tag]
	}
	for i, n := range nodes {
		if i%64 == 63 {
			if err := stop(); err != nil {
				return nil, err
			}
		}
		if c.selector.Match(n) {
			if raw, ok := c.raw(t, n); ok {
				texts = append(texts, raw)
			}
		}
	}
	return texts, nil
}

func (c *candidate) raw(t *tree, n *html.Node) (string, bool) {
	if c.attr == "" {
		return t.text(n), true
	}
	for _, a := range n.Attr {
		if a.Key == c.attr {
			return fold(a.Val), true
		}
	}
	return "", false
}

// fitted is a candidate that gives the wanted values on all examples.
type fitted struct {
	*candidate
	form    form
	list    bool
	address bool    // wanted are addresses that the page has shorter
	total   float64 // cost by itself
	more    float64 // and by what it does on further pages
	values  [][]string
	also    [][]string
	agree   float64
}

// fit finds out whether a candidate gives the wanted values on all examples; nil: it does not.
func (f *field) fit(c *candidate, texts [][]string) *fitted {
	var pairs []pair
	for i, w := range f.want {
		if w == nil {
			continue
		}
		more, ok := f.pairs(f.trees[i], texts[i], *w)
		if !ok {
			return nil
		}
		pairs = append(pairs, more...)
	}
	all := forms(pairs)
	if f.leads(pairs) {
		all = append(all, form{cost: .1})
	}
	for i := range all {
		if out := f.tried(c, &all[i], texts); out != nil {
			return out
		}
	}
	return nil
}

// pairs puts the wanted values beside the texts that have them; false: one has none.
func (f *field) pairs(t *tree, texts, want []string) (out []pair, ok bool) {
	from := 0
	for _, v := range want {
		at := slices.Index(texts[from:], v)
		if at < 0 {
			w := f.wanted(v)
			at = slices.IndexFunc(texts[from:], func(s string) bool { is, _ := w.in(s, 40); return is || t.leadsTo(s, v) })
		}
		if at < 0 {
			return nil, false
		}
		out = append(out, pair{texts[from+at], v})
		from += at + 1
	}
	return out, true
}

// leads tells whether all values are addresses that the texts lead to.
func (f *field) leads(pairs []pair) bool {
	return len(pairs) > 0 && !slices.ContainsFunc(pairs, func(p pair) bool {
		return p.raw != p.wanted && !slices.ContainsFunc(f.trees, func(t *tree) bool { return t.leadsTo(p.raw, p.wanted) })
	})
}

// tried applies a candidate with a form; nil: an example gets something else than is wanted.
func (f *field) tried(c *candidate, m *form, texts [][]string) *fitted {
	out := &fitted{candidate: c, form: *m, list: f.list, total: c.cost + m.cost + float64(len(c.css))/200}
	several, unwanted := false, false
	for i, w := range f.want {
		got := values(m, texts[i])
		switch {
		case w == nil && len(got) > 0:
			unwanted = true
		case w != nil && !f.right(out, f.trees[i], got, *w):
			return nil
		}
		several = several || !f.list && len(got) > 1
		out.values = append(out.values, got[:f.most(len(got))])
	}
	if several {
		out.total += costSeveral
	}
	if unwanted {
		out.total += costUnwanted
	}
	return out
}

func (f *field) most(n int) int {
	if f.list {
		return n
	}
	return min(n, 1)
}

// right compares what a page gives with what is wanted.
func (f *field) right(c *fitted, t *tree, got, want []string) bool {
	if len(got) < len(want) || (f.list || len(want) == 0) && len(got) != len(want) {
		return false
	}
	for i, v := range want {
		if c.form.gives(got[i], v) {
			continue
		}
		if c.address = t.leadsTo(got[i], v); !c.address {
			return false
		}
	}
	return true
}

// values are all values that a form makes of texts.
func values(m *form, texts []string) (out []string) {
	for _, raw := range texts {
		if v, ok := m.of(raw); ok {
			out = append(out, v)
		}
	}
	return out
}

// rule is the candidate as a field of a site rule.
func (c *fitted) rule(name string) crawl.FieldRule {
	return crawl.FieldRule{Name: name, CSS: c.css, Attr: c.attr, Regex: c.form.regex, Type: c.form.kind, List: c.list}
}

// distinct keeps the candidates that are not too long, once each.
func distinct(all []candidate) []candidate {
	seen := map[[2]string]bool{}
	out := all[:0]
	for _, c := range all {
		key := [2]string{c.css, c.attr}
		if seen[key] || len(c.css) > 8*elements.MaxToken {
			continue
		}
		seen[key] = true
		out = append(out, c)
	}
	return out
}

// ready compiles the selector of a candidate.
func (c *candidate) ready() bool {
	s, err := parser.CompileSelector(c.css)
	c.selector = s
	return err == nil
}
