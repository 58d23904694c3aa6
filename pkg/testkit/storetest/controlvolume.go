package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// ControlVolume is how much a control store holds in a test of its lists.
type ControlVolume struct{ Workflows, Executions, Events int }

// ControlVolumeOf is little, or what WHIRLPOOL_TEST_WORKFLOWS, WHIRLPOOL_TEST_EXECUTIONS and WHIRLPOOL_TEST_EVENTS say:
// 1000, 100000 and 10000000 make the store that of a server that many have used for years.
func ControlVolumeOf(t testing.TB) ControlVolume {
	t.Helper()
	return ControlVolume{Workflows: harness.Number(t, "WHIRLPOOL_TEST_WORKFLOWS", 10),
		Executions: harness.Number(t, "WHIRLPOOL_TEST_EXECUTIONS", 200),
		Events:     harness.Number(t, "WHIRLPOOL_TEST_EVENTS", 20_000)}
}

// Statements returns what fills a store's tables, in the SQL that both databases understand.
func (v ControlVolume) Statements() []string {
	const stats = `{"pages":1000,"claimed":5000,"verdicts":{"done":1000,"failed":12},"statuses":{"200":1000,"404":12},"excluded":{"scope":4000}}`
	numbers := func(n int) string {
		return fmt.Sprintf(`WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < %d) `, n)
	}
	each := v.Executions / v.Workflows
	return []string{
		`INSERT INTO workflows (id, slug, name, labels, current, executions, created_at, lock) ` + numbers(v.Workflows) +
			fmt.Sprintf(`SELECT 'wf_' || i, 'flow' || i, 'Flow ' || i, '{"team":"t' || (i %% 20) || '"}', 1, %d, 1700000000000000 + i, 1 FROM numbers`, each),
		`INSERT INTO versions (workflow, number, source, definition, sha256, author, message, parent, created_at)
			SELECT id, 1, 'seeds: []', '{}', '', 'me', '', 0, created_at FROM workflows`,
		`INSERT INTO executions (id, workflow, slug, version, number, state, desired, braked_by, reason, cause, attempt, epoch, labels, note,
			outcome, discard, marks, stats, audit, created_at, started_at, ended_at, lock, seq) ` + numbers(each) +
			fmt.Sprintf(`SELECT w.slug || '-' || i, w.id, w.slug, 1, i, CASE WHEN i %% 50 = 0 THEN 'partial' ELSE 'succeeded' END, 'run', '', '', '{"kind":"manual"}',
			1, 1, CASE WHEN i = 20 THEN '{"team":"x","release":"' || w.slug || '"}' ELSE '{"team":"x"}' END, '', 'succeeded', '', '{}', '%s', '{"ok":true}',
			w.created_at + i * 1000000, 1, 2, 5, %d FROM workflows w, numbers`, stats, v.Events/v.Executions),
		`INSERT INTO events (execution, workflow, seq, at, type, actor, data) ` + numbers(v.Events/v.Executions) +
			`SELECT x.id, x.workflow, i, x.created_at + i, CASE WHEN i = 1 THEN 'execution.created' ELSE 'milestone.pages' END, 'conductor', '{"pages":1000}'
			FROM executions x, numbers`,
	}
}

// ControlListsAreFast fails where a list of a store that was filled takes longer than 200 ms on the machine that the
// tests' times were made for: the best of five times counts, because others are at work on the machine too.
func ControlListsAreFast(t *testing.T, s workflow.Store) {
	bound := harness.Times(harness.Slowness(t), 200*time.Millisecond)
	for _, l := range controlLists(t, s) {
		first, best := time.Duration(0), time.Hour
		for n := range 5 {
			began := time.Now()
			if err := l.do(); err != nil {
				t.Fatalf("%s: %v", l.name, err)
			}
			took := time.Since(began)
			if n == 0 {
				first = took
			}
			best = min(best, took)
		}
		t.Logf("%-36s first %8.2f ms, best of five %8.2f ms", l.name, first.Seconds()*1e3, best.Seconds()*1e3)
		if best > bound {
			t.Errorf("%s took %v", l.name, best)
		}
	}
}

type controlList struct {
	name string
	do   func() error
}

// controlLists are all lists of executions, workflows and events.
func controlLists(t *testing.T, s workflow.Store) (out []controlList) {
	ctx := t.Context()
	executions := func(name string, f workflow.ExecutionFilter) {
		first, deep := workflow.Page{Limit: 50}, deepIn(ctx, t, s, f)
		out = append(out, controlList{name, func() error { _, err := s.Executions(ctx, f, first); return err }})
		if deep != "" {
			out = append(out, controlList{name + ", deep", func() error {
				_, err := s.Executions(ctx, f, workflow.Page{Limit: 50, Cursor: deep})
				return err
			}})
		}
	}
	rare, usual := []workflow.State{workflow.Partial}, []workflow.State{workflow.Succeeded}
	executions("executions", workflow.ExecutionFilter{})
	executions("executions of one", workflow.ExecutionFilter{Workflow: "flow7"})
	executions("executions by state", workflow.ExecutionFilter{States: rare})
	executions("executions by a usual state", workflow.ExecutionFilter{States: usual})
	executions("executions by two states", workflow.ExecutionFilter{States: append(rare, usual...)})
	executions("executions by a state of none",
		workflow.ExecutionFilter{States: []workflow.State{workflow.Running, workflow.Paused}})
	executions("executions of one by state", workflow.ExecutionFilter{Workflow: "flow7", States: rare})
	executions("executions by label", workflow.ExecutionFilter{Label: "team=x"})
	executions("executions by a label's key", workflow.ExecutionFilter{Label: "team"})
	executions("executions by a rare label", workflow.ExecutionFilter{Label: "release=flow7"})
	executions("executions by a label of none", workflow.ExecutionFilter{Label: "release=none"})
	executions("executions by label and state", workflow.ExecutionFilter{Label: "team=x", States: rare})
	executions("executions of one by label", workflow.ExecutionFilter{Label: "team=x", Workflow: "flow7"})
	return append(append(out, workflowLists(ctx, s)...), eventLists(ctx, s)...)
}

func workflowLists(ctx context.Context, s workflow.Store) (out []controlList) {
	for name, f := range map[string]workflow.Filter{"workflows": {}, "workflows by label": {Label: "team=t7"},
		"workflows by name": {Query: "low 9"}} {
		out = append(out, controlList{name, func() error {
			_, err := s.Workflows(ctx, f,
				workflow.Page{Limit: 50})
			return err
		}})
	}
	return append(out, controlList{"unsettled", func() error { _, err := s.Unsettled(ctx); return err }})
}

func eventLists(ctx context.Context, s workflow.Store) (out []controlList) {
	for name, f := range map[string]workflow.EventFilter{"last events": {Last: true},
		"events of an execution":    {Execution: "flow7-3"},
		"last events of a workflow": {Workflow: "wf_7", Last: true}, "events of a rare type": {Types: []string{"rare"},
			Last: true},
		"events of two types": {Types: []string{"execution.created", "rare"}, Last: true}} {
		out = append(out, controlList{name, func() error { _, err := s.Events(ctx, f, 0, 100); return err }})
	}
	return append(out, controlList{"a commit", func() error {
		return s.AddEvent(ctx,
			workflow.Event{At: time.Now(), Type: "x", Actor: "me"})
	}})
}

// deepIn is a cursor far behind the start of a list; empty: the list is short.
func deepIn(ctx context.Context, t *testing.T, s workflow.Store, f workflow.ExecutionFilter) (cursor string) {
	t.Helper()
	for range 20 {
		l, err := s.Executions(ctx, f, workflow.Page{Limit: 200, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if l.Next == "" {
			return ""
		}
		cursor = l.Next
	}
	return cursor
}
