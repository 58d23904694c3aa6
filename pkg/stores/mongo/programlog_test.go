package mongo

import (
	"fmt"
	"testing"
	"time"
)

// Lines of many programs are in one place, once each though a batch comes again, and are found by what they say.
func TestProgramLog(t *testing.T) {
	s := open(t)
	for range 2 {
		if err := s.EnsureProgramLog(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	var lines []ProgramLine
	for i := range 30 {
		lines = append(lines, ProgramLine{ID: fmt.Sprintf("n/p/%d", i), At: at.Add(time.Duration(i) * time.Second),
			Level: []string{"INFO", "WARN", "ERROR"}[i%3], Program: []string{"fetcher", "parser"}[i%2], Node: "n1", Job: "shop",
			Message: fmt.Sprintf("line %d (a+b)", i), Fields: map[string]string{"a.b": "$x", "url": "https://a.test/"}})
	}
	for range 2 {
		if err := s.AddProgramLines(t.Context(), lines); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		f    ProgramFilter
		want int
	}{{"all", ProgramFilter{}, 30}, {"limit", ProgramFilter{Limit: 4}, 4}, {"level", ProgramFilter{Level: "warn"}, 20},
		{"program", ProgramFilter{Program: "parser"}, 15}, {"node", ProgramFilter{Node: "n2"}, 0},
		{"job", ProgramFilter{Job: "shop"}, 30}, {"text", ProgramFilter{Text: "7 (A+B)"}, 3},
		{"field", ProgramFilter{Text: "url=https"}, 30},
		{"since", ProgramFilter{Since: at.Add(20 * time.Second), Until: at.Add(25 * time.Second)}, 5}} {
		got, err := s.ProgramLines(t.Context(), c.f)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: %d lines, want %d, %v", c.name, len(got), c.want, err)
		}
		for i := 1; i < len(got); i++ {
			if got[i].At.Before(got[i-1].At) {
				t.Errorf("%s: line %d is older than the one before", c.name, i)
			}
		}
	}
	if _, err := s.ProgramLines(t.Context(), ProgramFilter{Level: "loud"}); err == nil {
		t.Error("a level that is none")
	}
}
