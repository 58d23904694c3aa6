package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

var bg = context.Background()

// filled is a store with 20 workflows of 10 executions, each of which has 500 events.
func filled(b *testing.B) *sqlite.Store {
	s := open(b, filepath.Join(b.TempDir(), "control.db"))
	at := time.Now().UTC().Truncate(time.Microsecond)
	job := crawl.DefaultJob()
	e := workflow.Event{At: at, Type: "milestone.pages", Actor: "conductor", Data: json.RawMessage(`{"pages":1000}`)}
	for i := range 20 {
		w := &workflow.Workflow{ID: workflow.ID(fmt.Sprintf("wf_%d", i)), Slug: fmt.Sprintf("flow%d", i), Current: 1,
			Created: at, Lock: 1}
		v := &workflow.Version{Workflow: w.ID, Number: 1, Definition: json.RawMessage(`{}`), Created: at}
		if err := s.CreateWorkflow(bg, w, v, e); err != nil {
			b.Fatal(err)
		}
		for range 10 {
			at = at.Add(time.Second)
			x := &workflow.Execution{Workflow: w.ID, Version: 1, State: workflow.Pending, Desired: workflow.Run, Attempt: 1,
				Epoch: 1, Created: at}
			if err := s.CreateExecution(bg, x, &job, "", e); err != nil {
				b.Fatal(err)
			}
			x.State, x.Ended, x.Stats = workflow.Succeeded, at,
				&workflow.Stats{Pages: 10, Statuses: map[int]int64{200: 10, 404: 3}}
			if err := s.Change(bg, x, workflow.Pending, slices.Repeat([]workflow.Event{e}, 499)...); err != nil {
				b.Fatal(err)
			}
		}
	}
	return s
}

// BenchmarkStore measures with 200 executions and 100,000 events.
func BenchmarkStore(b *testing.B) {
	s := filled(b)
	page := workflow.Page{Limit: 50}
	for name, do := range map[string]func() error{
		"executions": func() error { _, err := s.Executions(bg, workflow.ExecutionFilter{}, page); return err },
		"executions of one": func() error {
			_, err := s.Executions(bg, workflow.ExecutionFilter{Workflow: "flow7"}, page)
			return err
		},
		"executions by state": func() error {
			_, err := s.Executions(bg, workflow.ExecutionFilter{States: []workflow.State{"partial"}}, page)
			return err
		},
		"all executions": func() error {
			_, err := s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 200})
			return err
		},
		"workflows": func() error { _, err := s.Workflows(bg, workflow.Filter{}, page); return err },
		"unsettled": func() error { _, err := s.Unsettled(bg); return err },
		"last events": func() error {
			_,
				err := s.Events(bg, workflow.EventFilter{Last: true}, 0, 100)
			return err
		},
		"events of an execution": func() error {
			_,
				err := s.Events(bg, workflow.EventFilter{Execution: "flow7-3"}, 0, 100)
			return err
		},
		"last events of a workflow": func() error {
			_, err := s.Events(bg, workflow.EventFilter{Workflow: "wf_7", Last: true}, 0, 100)
			return err
		},
		"events of a rare type": func() error {
			_, err := s.Events(bg, workflow.EventFilter{Types: []string{"rare"}, Last: true}, 0, 100)
			return err
		},
		"commit": func() error { return s.AddEvent(bg, workflow.Event{At: time.Now(), Type: "x", Actor: "me"}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
