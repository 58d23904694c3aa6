package templates

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var spaces = regexp.MustCompile(`\s+`)

// A value that a page does not hold cannot be found in it.
func TestPagesHoldTheirValues(t *testing.T) {
	for _, s := range Sites(slices.Concat(Held(), Later(), Practice())) {
		fields := map[string]int{}
		for n := range 30 {
			p := s.Page(n)
			text := spaces.ReplaceAllString(html.UnescapeString(string(p.HTML)), " ")
			for f, values := range p.Fields {
				fields[f]++
				for _, v := range values {
					if !strings.Contains(text, v) {
						t.Errorf("%s %d, page %d has no %s %q", s.Family.Name, s.Number, n, f, v)
					}
				}
			}
		}
		if len(fields) < 4 {
			t.Errorf("%s %d has few fields: %v", s.Family.Name, s.Number, fields)
		}
	}
}

func TestTheSamePagesAgain(t *testing.T) {
	for i, s := range Sites(Held()) {
		again := Sites(Held())[i]
		again.Page(7)
		if !bytes.Equal(s.Page(3).HTML, again.Page(3).HTML) {
			t.Fatalf("%s %d makes another page", s.Family.Name, s.Number)
		}
	}
}

// What is measured on and what was tuned on have nothing in common but the words.
func TestFamiliesAreApart(t *testing.T) {
	var names []string
	for _, f := range slices.Concat(Held(), Later(), Practice()) {
		if slices.Contains(names, f.Name) {
			t.Errorf("%s is there twice", f.Name)
		}
		names = append(names, f.Name)
	}
	if n := len(Sites(Held())); n != 50 {
		t.Errorf("%d templates to measure on, want 50", n)
	}
}
