package report

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A crawl whose outputs are not all delivered is not finished, and its status says what is missing, and why.
func TestStatusTellsOfOutputs(t *testing.T) {
	type of = []Delivered
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		outputs of
		state   State
		want    []string
	}{
		{nil, StateFinished, nil},
		{of{{Node: "table", Where: "t.csv", Rows: 7}}, StateFinished,
			[]string{"outputs        table: 7 rows to t.csv\n"}},
		{of{{Node: "table", Where: "t.csv", Rows: 7}, {Node: "hook", Where: "http://x/", Behind: true}}, StateStopped,
			[]string{"hook: 0 rows to http://x/; not all: `whirlpool crawl`"}},
		{of{{Node: "hook", Where: "http://x/", Error: "it answered 500", Since: now.Add(-time.Minute)}}, StateFinished,
			[]string{"hook: 0 rows to http://x/; not delivered since 1m0s ago", "it answered 500"}},
	} {
		view := &Crawl{src: Sources{Outputs: func(context.Context, *crawl.Job) ([]Delivered, error) {
			return c.outputs, nil
		}}}
		s := &Status{State: StateFinished, Time: now}
		if err := view.deliveries(t.Context(), s, &crawl.Job{}); err != nil || s.State != c.state {
			t.Errorf("%+v: state %s, %v; want %s", c.outputs, s.State, err, c.state)
		}
		var text strings.Builder
		if err := s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
	}
}
