package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func (c *controlSuite) schedule(w *workflow.Workflow, name string) *workflow.Schedule {
	c.Helper()
	s := &workflow.Schedule{ID: workflow.ScheduleID("sc_" + w.Slug + name), Workflow: w.ID, Slug: w.Slug, Name: name,
		Words: "every hour", Created: c.tick()}
	s.Rule.Cron, s.Rule.Overlap, s.Rule.CatchUpMax = "@hourly", workflow.OverlapQueue, 3
	s.Next = c.slot(s, 1)
	c.must(c.s.CreateSchedule(bg, s, c.event("schedule.created")))
	return s
}

// slot is the n-th slot of a schedule, n seconds after it was made.
func (c *controlSuite) slot(s *workflow.Schedule, n int) *workflow.Slot {
	at := s.Created.Add(time.Duration(n) * time.Second)
	return &workflow.Slot{Schedule: s.ID, Workflow: s.Workflow, Name: s.Name, Label: fmt.Sprint("slot ", n), At: at,
		Due: at.Add(time.Millisecond), State: workflow.SlotPlanned}
}

func (c *controlSuite) schedules() {
	a, b := c.workflow("a"), c.workflow("b")
	s := c.schedule(a, "x")
	got, err := c.s.Schedule(bg, s.ID)
	c.must(err)
	c.same("stored", got, s)
	twice := *s
	twice.ID = "sc_2"
	c.is(c.s.CreateSchedule(bg, &twice, c.event("schedule.created")), workflow.ErrNameTaken)
	c.is(c.s.CreateSchedule(bg, &workflow.Schedule{ID: "sc_3", Workflow: "wf_none", Created: c.at}, c.event("x")),
		workflow.ErrNotFound)
	c.schedule(b, "x")
	y := c.schedule(a, "y")
	for of, want := range map[string]int{"": 3, "a": 2, "wf_b": 1, "none": 0} {
		list, err := c.s.Schedules(bg, of, workflow.Page{Limit: 10})
		c.must(err)
		if len(list.Items) != want {
			c.Errorf("%d schedules of %q, want %d", len(list.Items), of, want)
		}
	}
	list, err := c.s.Schedules(bg, "", workflow.Page{Limit: 2})
	c.must(err)
	more, err := c.s.Schedules(bg, "", workflow.Page{Limit: 2, Cursor: list.Next})
	c.must(err)
	if len(list.Items) != 2 || list.Items[0].ID != y.ID || len(more.Items) != 1 || more.Items[0].ID != s.ID ||
		more.Next != "" {
		c.Errorf("%d and %d schedules", len(list.Items), len(more.Items))
	}
	stale := *s
	s.Paused, s.Reason, s.Next, s.Rule.Cron = c.tick(), "why", nil, "@daily"
	c.must(c.s.UpdateSchedule(bg, s, "paused", c.event("schedule.paused")))
	c.is(c.s.UpdateSchedule(bg, &stale, "", c.event("schedule.paused")), workflow.ErrStale)
	got, err = c.s.Schedule(bg, s.ID)
	c.must(err)
	c.same("changed", got, s)
	c.is(c.s.RemoveSchedule(bg, s.ID, 1, c.event("schedule.deleted")), workflow.ErrStale)
	c.must(c.s.RemoveSchedule(bg, s.ID, s.Lock, c.event("schedule.deleted")))
	_, err = c.s.Schedule(bg, s.ID)
	c.is(err, workflow.ErrNotFound)
	c.kinds(workflow.EventFilter{Workflow: a.ID}, "workflow.created", "schedule.created", "schedule.created",
		"schedule.paused", "schedule.deleted")
}

func (c *controlSuite) due(now time.Time, want ...string) {
	c.Helper()
	list, err := c.s.DueSlots(bg, now)
	c.must(err)
	var got []string
	for _, s := range list {
		got = append(got, s.Label+" "+string(s.State))
	}
	c.same("due", got, want)
}

func (c *controlSuite) slots() {
	w := c.workflow("a")
	s := c.schedule(w, "x")
	c.due(s.Next.At)
	c.due(s.Next.Due, "slot 1 planned")
	one, two := *s.Next, *c.slot(s, 2)
	one.State, one.Reason, one.Decided = workflow.SlotMissed, "down", c.at
	two.State, two.Reason, two.Decided = workflow.SlotWaiting, "made up for", c.at
	c.must(c.s.Decide(bg, &workflow.Decision{From: workflow.SlotPlanned, Slots: []workflow.Slot{one, two},
		Next: c.slot(s, 3), Events: []workflow.Event{c.event("schedule.missed")}}))
	c.due(s.Created, "slot 2 waiting")
	got, err := c.s.Schedule(bg, s.ID)
	c.must(err)
	if got.Next.Label != "slot 3" || got.Last.Label != "slot 2" || !got.Mark.Equal(two.At) {
		c.Errorf("next %v, last %v, mark %v", got.Next, got.Last, got.Mark)
	}
	for _, f := range []struct {
		f    workflow.SlotFilter
		want int
	}{{workflow.SlotFilter{}, 3}, {workflow.SlotFilter{Schedule: "none"}, 0}, {workflow.SlotFilter{Workflow: "a"}, 3},
		{workflow.SlotFilter{States: []workflow.SlotState{workflow.SlotMissed, workflow.SlotSkipped}}, 1}} {
		list, err := c.s.Slots(bg, f.f, workflow.Page{Limit: 10})
		c.must(err)
		if len(list.Items) != f.want {
			c.Errorf("%+v: %d slots, want %d", f.f, len(list.Items), f.want)
		}
	}
	list, err := c.s.Slots(bg, workflow.SlotFilter{Schedule: s.ID}, workflow.Page{Limit: 2})
	c.must(err)
	more, err := c.s.Slots(bg, workflow.SlotFilter{Schedule: s.ID}, workflow.Page{Limit: 2, Cursor: list.Next})
	c.must(err)
	if len(list.Items) != 2 || list.Items[0].Label != "slot 3" || len(more.Items) != 1 {
		c.Fatalf("%d and %d slots", len(list.Items), len(more.Items))
	}
	c.same("the earliest", more.Items[0], one)
	got.Paused, got.Next = c.at, nil
	c.must(c.s.UpdateSchedule(bg, got, "paused", c.event("schedule.paused")))
	c.due(c.at.Add(time.Hour))
	got, err = c.s.Schedule(bg, s.ID)
	c.must(err)
	if got.Next != nil || got.Last.State != workflow.SlotSkipped || got.Last.Reason != "paused" {
		c.Errorf("next %v, last %v", got.Next, got.Last)
	}
}

// begins is the decision that a slot begins an execution.
func (c *controlSuite) begins(w *workflow.Workflow, s *workflow.Schedule, next *workflow.Slot) *workflow.Decision {
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/"}
	slot := *s.Next
	slot.State, slot.Decided = workflow.SlotStarted, c.at
	return &workflow.Decision{From: workflow.SlotPlanned, Slots: []workflow.Slot{slot}, Next: next, Job: &job,
		Created: c.event("execution.created"), Start: &workflow.Execution{Workflow: w.ID, Version: 1, State: workflow.Pending,
			Desired: workflow.Run, Attempt: 1, Epoch: 1, Cause: workflow.Cause{Kind: "schedule", By: s.Name, Schedule: s.ID,
				Slot: slot.Label}, Labels: map[string]string{}, Created: c.at}}
}

// slotOnce lets many decide on one slot: one execution begins.
func (c *controlSuite) slotOnce() {
	w := c.workflow("a")
	s := c.schedule(w, "x")
	var wg sync.WaitGroup
	var won atomic.Int32
	for range 10 {
		wg.Go(func() {
			err := c.s.Decide(bg, c.begins(w, s, c.slot(s, 2)))
			if err == nil {
				won.Add(1)
			} else {
				c.is(err, workflow.ErrStale)
			}
		})
	}
	wg.Wait()
	list, err := c.s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 20})
	c.must(err)
	got, err := c.s.Schedule(bg, s.ID)
	c.must(err)
	if won.Load() != 1 || len(list.Items) != 1 || got.Last.Execution != "a-1" || got.Last.State != workflow.SlotStarted {
		c.Fatalf("%d decided, %d executions began, the slot is %+v", won.Load(), len(list.Items), got.Last)
	}
	if cause := list.Items[0].Cause; cause.Schedule != s.ID || cause.Slot != "slot 1" {
		c.Errorf("cause %+v", cause)
	}
	c.kinds(workflow.EventFilter{Execution: "a-1"}, "execution.created")
	w, err = c.s.Workflow(bg, "a")
	c.must(err)
	w.Archived = c.tick()
	c.must(c.s.UpdateWorkflow(bg, w, c.event("workflow.archived")))
	s.Next = c.slot(s, 2)
	c.is(c.s.Decide(bg, c.begins(w, s, nil)), workflow.ErrArchived)
}

func (c *controlSuite) slotsBounded() {
	w := c.workflow("a")
	s := c.schedule(w, "x")
	first := *s.Next
	for n := 1; n < 1200; n += 300 {
		d := &workflow.Decision{From: workflow.SlotPlanned, Next: c.slot(s, n+300)}
		for i := n; i < n+300; i++ {
			slot := *c.slot(s, i)
			slot.State, slot.Decided = workflow.SlotMissed, c.at
			d.Slots = append(d.Slots, slot)
		}
		c.must(c.s.Decide(bg, d))
	}
	n := 0
	for p := (workflow.Page{Limit: 200}); ; {
		list, err := c.s.Slots(bg, workflow.SlotFilter{Schedule: s.ID}, p)
		c.must(err)
		n += len(list.Items)
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	if n < workflow.MaxSlots || n > workflow.MaxSlots+2 {
		c.Errorf("%d slots are kept", n)
	}
	got, err := c.s.Schedule(bg, s.ID)
	c.must(err)
	if got.Next == nil || got.Next.Label != "slot 1201" || first.Label != "slot 1" {
		c.Errorf("next is %v", got.Next)
	}
}
