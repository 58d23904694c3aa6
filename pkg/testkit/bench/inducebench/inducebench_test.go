package inducebench

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/templates"
)

// The promise: F1 of at least .95 over 50 templates that nothing was tuned on, with three examples each.
func TestHeldOutTemplates(t *testing.T) {
	s := Setup{Families: templates.Held(), Examples: 3, HeldOut: 20}
	if testing.Short() {
		s.HeldOut = 6
	}
	out, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := Print(&text, out); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", text.String())
	if len(out) != 50 || Sum(out).F1() < .95 {
		t.Errorf("F1 %.3f over %d templates, want .95 over 50", Sum(out).F1(), len(out))
	}
}

// The measure sees wrong rules: those of one site on the pages of another one of the family.
func TestRulesOfAnotherSite(t *testing.T) {
	sites := templates.Sites(templates.Held()[:1])
	s := Setup{Examples: 3, HeldOut: 4}
	own, err := s.site(t.Context(), sites[0])
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.apply(own.Rule, sites[2])
	if err != nil {
		t.Fatal(err)
	}
	if own.Count.F1() < .9 || other.Count.F1() > .5 {
		t.Errorf("its own pages: %.2f, others: %.2f", own.Count.F1(), other.Count.F1())
	}
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		got  []any
		want []string
		is   Count
	}{
		{[]any{"a", "b"}, []string{"b", "a"}, Count{2, 0, 0}},
		{[]any{"a", "a"}, []string{"a"}, Count{1, 1, 0}},
		{nil, []string{"a"}, Count{0, 0, 1}},
		{[]any{12.5}, []string{"12.50"}, Count{1, 0, 0}},
		{[]any{"2026-01-02T00:00:00Z"}, []string{"2026-01-02"}, Count{1, 0, 0}},
		{[]any{"x"}, []string{"y"}, Count{0, 1, 1}},
	} {
		if got := compare(tt.got, tt.want); got != tt.is {
			t.Errorf("%v, %v: %+v, want %+v", tt.got, tt.want, got, tt.is)
		}
	}
}

// No page that a rule is made of is one that it is measured on.
func TestHeldOutPagesAreOthers(t *testing.T) {
	site := templates.Sites(templates.Held()[:1])[0]
	examples, opt, err := Setup{Examples: 10, Also: 50}.Ask(site)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for i := range examples {
		urls = append(urls, examples[i].Name)
	}
	for i := range opt.Also {
		urls = append(urls, opt.Also[i].Name)
	}
	for n := range 50 {
		for _, from := range []int{heldFrom, laterFrom} {
			if u := site.Page(from + n).URL; slices.Contains(urls, u) {
				t.Errorf("%s is an example, too", u)
			}
		}
	}
}
