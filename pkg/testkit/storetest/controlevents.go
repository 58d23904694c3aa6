package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func (c *controlSuite) removal() {
	w := c.workflow("a")
	x := c.execution(w)
	x.State, x.Ended, x.Discard = workflow.Stopped, c.at, workflow.DiscardAll
	c.must(c.s.Change(bg, x, workflow.Pending, c.event("execution.deleting")))
	c.must(c.s.SetStep(bg, x.ID, 1, workflow.Step{Name: "stats", State: "begun", At: c.at}))
	list, err := c.s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 10})
	c.must(err)
	open, err := c.s.Unsettled(bg)
	c.must(err)
	if len(list.Items) != 0 || len(open) != 1 {
		c.Errorf("%d in the list, %d unsettled, want 0 and 1", len(list.Items), len(open))
	}
	c.must(c.s.Remove(bg, x.ID, c.event("execution.deleted")))
	_, err = c.s.Execution(bg, x.ID)
	c.is(err, workflow.ErrNotFound)
	c.is(c.s.Remove(bg, x.ID, c.event("execution.deleted")), workflow.ErrNotFound)
	c.kinds(workflow.EventFilter{Workflow: w.ID}, "workflow.created", "execution.deleted")
	if next := c.execution(w); next.ID != "a-2" {
		c.Errorf("the next execution is %s: numbers are never given twice", next.ID)
	}
}

func (c *controlSuite) steps() {
	x := c.execution(c.workflow("a"))
	for _, s := range []workflow.Step{{Name: "stats", State: "begun", At: c.at}, {Name: "audit", State: "begun", At: c.at},
		{Name: "stats", State: "done", Result: json.RawMessage(`{"pages":1}`), At: c.tick()}} {
		c.must(c.s.SetStep(bg, x.ID, 1, s))
	}
	got, err := c.s.Steps(bg, x.ID, 1)
	c.must(err)
	if len(got) != 2 || got[0].Name != "stats" || got[0].State != "done" || string(got[0].Result) != `{"pages":1}` ||
		got[1].Name != "audit" {
		c.Errorf("steps %+v", got)
	}
	got, err = c.s.Steps(bg, x.ID, 2)
	c.must(err)
	if len(got) != 0 {
		c.Errorf("steps of another attempt: %+v", got)
	}
}

// kinds compares the types of events, and looks whether their numbers grow and those of executions have no gap.
func (c *controlSuite) kinds(f workflow.EventFilter, want ...string) {
	c.Helper()
	got, err := c.s.Events(bg, f, 0, 1000)
	c.must(err)
	var kinds []string
	var id int64
	for _, e := range got {
		kinds = append(kinds, e.Type)
		if e.ID <= id {
			c.Errorf("event %d stands behind %d", e.ID, id)
		}
		id = e.ID
	}
	c.same("events", kinds, want)
}

func (c *controlSuite) events() {
	w := c.workflow("a")
	x := c.execution(w)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	woken := c.s.Subscribe(ctx)
	e := c.event("milestone.pages")
	e.Execution = x.ID
	c.must(c.s.AddEvent(bg, e))
	select {
	case <-woken:
	case <-time.After(10 * time.Minute):
		c.Error("an event woke nobody")
	}
	c.must(c.s.AddEvent(bg, workflow.Event{At: c.at, Type: "server.started", Actor: "server"}))
	e.Execution = "a-9"
	c.is(c.s.AddEvent(bg, e), workflow.ErrNotFound)
	all, err := c.s.Events(bg, workflow.EventFilter{}, 0, 100)
	c.must(err)
	if len(all) != 4 || all[2].Seq != 2 || all[2].Workflow != w.ID || string(all[2].Data) != `{"a":1}` ||
		all[3].Seq != 0 || all[3].Execution != "" {
		c.Errorf("events %+v", all)
	}
	behind, err := c.s.Events(bg, workflow.EventFilter{}, all[1].ID, 1)
	c.must(err)
	c.same("behind", behind, all[2:3])
	last, err := c.s.Events(bg, workflow.EventFilter{Last: true}, 0, 2)
	c.must(err)
	c.same("last", last, all[2:])
	c.kinds(workflow.EventFilter{Types: []string{"server.started", "workflow.created"}}, "workflow.created",
		"server.started")
}

func (c *controlSuite) bounded() {
	x := c.execution(c.workflow("a"))
	const more = 700
	for n := 1; n < workflow.MaxEvents+more; {
		batch := min(100, workflow.MaxEvents+more-n)
		events := slices.Repeat([]workflow.Event{c.event("milestone.pages")}, batch)
		c.must(c.s.Change(bg, x, workflow.Pending, events...))
		n += batch
	}
	got, err := c.s.Events(bg, workflow.EventFilter{Execution: x.ID}, 0, 2*workflow.MaxEvents)
	c.must(err)
	if len(got) > workflow.MaxEvents || len(got) < workflow.MaxEvents/2 || got[len(got)-1].Seq != workflow.MaxEvents+more {
		c.Fatalf("%d events are kept, the last is number %d", len(got), got[len(got)-1].Seq)
	}
	for i := range got {
		if got[i].Seq != got[0].Seq+i {
			c.Fatalf("event %d follows %d", got[i].Seq, got[i-1].Seq)
		}
	}
	folded, err := c.s.Folded(bg, x.ID)
	c.must(err)
	if folded["execution.created"] != 1 || folded["execution.created"]+folded["milestone.pages"] != int64(got[0].Seq-1) {
		c.Errorf("folded %v, the first that is kept is number %d", folded, got[0].Seq)
	}
}

func (c *controlSuite) values() {
	c.must(c.s.SetValue(bg, "s", "b", []byte{0, 1}))
	c.must(c.s.SetValue(bg, "s", "a", []byte{}))
	c.must(c.s.SetValue(bg, "s", "b", []byte("two")))
	c.must(c.s.SetValue(bg, "t", "b", []byte("other")))
	c.must(c.s.SetValue(bg, "t", "gone", []byte("x")))
	c.must(c.s.SetValue(bg, "t", "gone", nil))
	got, err := c.s.Value(bg, "s", "b")
	c.must(err)
	none, err := c.s.Value(bg, "t", "gone")
	c.must(err)
	if string(got) != "two" || none != nil {
		c.Errorf("values %q and %q", got, none)
	}
	var keys []string
	c.must(c.s.EachValue(bg, "s", func(k string, _ []byte) error { keys = append(keys, k); return nil }))
	c.same("keys", keys, []string{"a", "b"})
}

func (c *controlSuite) cursors() {
	bad := (*workflow.Invalid)(nil)
	for _, cursor := range []string{"x", "!", "AAAA", "J25n"} {
		if _, err := c.s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 1, Cursor: cursor}); !errors.As(err,
			&bad) {
			c.Errorf("cursor %q: %v", cursor, err)
		}
	}
}
