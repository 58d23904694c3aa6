package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// ControlStore is what every workflow.Store has to pass. open returns an empty one.
func ControlStore(t *testing.T, open func(*testing.T) workflow.Store) {
	for name, test := range map[string]func(*controlSuite){
		"workflows":          (*controlSuite).workflows,
		"versions":           (*controlSuite).versions,
		"executions":         (*controlSuite).executions,
		"lists go on":        (*controlSuite).lists,
		"lists by label":     (*controlSuite).labels,
		"odd texts":          (*controlSuite).texts,
		"compare and set":    (*controlSuite).compareAndSet,
		"one of many wins":   (*controlSuite).race,
		"once":               (*controlSuite).once,
		"removal":            (*controlSuite).removal,
		"steps":              (*controlSuite).steps,
		"events":             (*controlSuite).events,
		"events are bounded": (*controlSuite).bounded,
		"values":             (*controlSuite).values,
		"values are swapped": (*controlSuite).swaps,
		"audit":              (*controlSuite).audits,
		"audited changes":    (*controlSuite).auditedChanges,
		"foreign cursors":    (*controlSuite).cursors,
		"schedules":          (*controlSuite).schedules,
		"slots":              (*controlSuite).slots,
		"a slot begins once": (*controlSuite).slotOnce,
		"slots are bounded":  (*controlSuite).slotsBounded,
		"alerts":             (*controlSuite).alerts,
		"deliveries":         (*controlSuite).deliveries,
		"quotas":             (*controlSuite).quotas,
		"quotas in a race":   (*controlSuite).quotaRace,
		"pages of days":      (*controlSuite).dayPages,
	} {
		t.Run(name, func(t *testing.T) {
			test(&controlSuite{T: t, s: open(t), at: time.UnixMicro(1_700_000_000_000_123).UTC()})
		})
	}
}

type controlSuite struct {
	*testing.T
	s  workflow.Store
	at time.Time
}

var bg = context.Background()

func (c *controlSuite) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *controlSuite) is(err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Errorf("error %v, want %v", err, want)
	}
}

func (c *controlSuite) same(what string, got, want any) {
	c.Helper()
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

func (c *controlSuite) tick() time.Time { c.at = c.at.Add(time.Second); return c.at }

func (c *controlSuite) event(kind string) workflow.Event {
	return workflow.Event{At: c.at, Type: kind, Actor: "me", Data: json.RawMessage(`{"a":1}`)}
}

func (c *controlSuite) workflow(slug string) *workflow.Workflow {
	c.Helper()
	w := &workflow.Workflow{ID: workflow.ID("wf_" + slug), Slug: slug, Name: "Name of " + slug,
		Labels: map[string]string{"team": slug}, Current: 1, Created: c.tick(), Lock: 1}
	v := &workflow.Version{Workflow: w.ID, Number: 1, Source: "id: x # comment", Definition: json.RawMessage(`{"id":""}`),
		SHA256: "aa", Author: "me", Created: c.at}
	c.must(c.s.CreateWorkflow(bg, w, v, c.event("workflow.created")))
	return w
}

func (c *controlSuite) execution(w *workflow.Workflow) *workflow.Execution {
	c.Helper()
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/"}
	x := &workflow.Execution{Workflow: w.ID, Version: 1, State: workflow.Pending, Desired: workflow.Run, Attempt: 1,
		Epoch: 1, Cause: workflow.Cause{Kind: "manual", By: "me"}, Labels: map[string]string{}, Created: c.tick()}
	c.must(c.s.CreateExecution(bg, x, &job, "", c.event("execution.created")))
	return x
}

func (c *controlSuite) workflows() {
	w := c.workflow("a")
	got, err := c.s.Workflow(bg, "a")
	c.must(err)
	c.same("by slug", got, w)
	got, err = c.s.Workflow(bg, string(w.ID))
	c.must(err)
	c.same("by id", got, w)
	_, err = c.s.Workflow(bg, "none")
	c.is(err, workflow.ErrNotFound)
	c.is(c.s.CreateWorkflow(bg, &workflow.Workflow{ID: "wf_2", Slug: "a", Current: 1, Created: c.at},
		&workflow.Version{Workflow: "wf_2", Number: 1,
			Definition: json.RawMessage(`{}`)}, c.event("workflow.created")), workflow.ErrTaken)
	stale := *w
	w.Name, w.Archived, w.Labels = "new", c.tick(), nil
	c.must(c.s.UpdateWorkflow(bg, w, c.event("workflow.updated")))
	c.is(c.s.UpdateWorkflow(bg, &stale, c.event("workflow.updated")), workflow.ErrStale)
	got, err = c.s.Workflow(bg, "a")
	c.must(err)
	w.Labels = map[string]string{}
	c.same("changed", got, w)
	x := &workflow.Execution{Workflow: w.ID, Version: 1, Created: c.at}
	c.is(c.s.CreateExecution(bg, x, &crawl.Job{}, "", c.event("execution.created")), workflow.ErrArchived)
	for filter, want := range map[workflow.Filter]int{{}: 0, {Archived: true}: 1, {Archived: true, Query: "NEW"}: 1,
		{Archived: true, Query: "x"}: 0, {Archived: true, Label: "team"}: 0} {
		list, err := c.s.Workflows(bg, filter, workflow.Page{Limit: 10})
		c.must(err)
		if len(list.Items) != want || list.Total != int64(want) {
			c.Errorf("%+v: %d of %d, want %d", filter, len(list.Items), list.Total, want)
		}
	}
	c.kinds(workflow.EventFilter{Workflow: w.ID}, "workflow.created", "workflow.updated")
}

func (c *controlSuite) versions() {
	w := c.workflow("a")
	for n := 1; n < 6; n++ {
		v := &workflow.Version{Workflow: w.ID, Source: fmt.Sprint(n), Definition: json.RawMessage(`{}`), Parent: n,
			Message: "why", Created: c.tick()}
		c.must(c.s.AddVersion(bg, v, n, c.event("workflow.version_added")))
		got, err := c.s.Version(bg, w.ID, n+1)
		c.must(err)
		c.same("version", got, v)
	}
	c.is(c.s.AddVersion(bg, &workflow.Version{Workflow: w.ID, Definition: json.RawMessage(`{}`)}, 2, c.event("x")),
		workflow.ErrStale)
	_, err := c.s.Version(bg, w.ID, 9)
	c.is(err, workflow.ErrNotFound)
	var numbers []int
	for p := (workflow.Page{Limit: 4}); ; {
		list, err := c.s.Versions(bg, w.ID, p)
		c.must(err)
		for _, v := range list.Items {
			numbers = append(numbers, v.Number)
		}
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	c.same("numbers", numbers, []int{6, 5, 4, 3, 2, 1})
	got, err := c.s.Workflow(bg, "a")
	c.must(err)
	if got.Current != 6 || got.Lock != 6 {
		c.Errorf("current %d, lock %d, want 6 and 6", got.Current, got.Lock)
	}
}

func (c *controlSuite) executions() {
	w := c.workflow("a")
	x := c.execution(w)
	if x.ID != "a-1" || x.Number != 1 || x.Slug != "a" || x.Lock != 1 {
		c.Errorf("the first execution is %+v", x)
	}
	job, err := c.s.Job(bg, x.ID)
	c.must(err)
	if job.ID != x.ID || job.Seeds[0] != "http://a.test/" {
		c.Errorf("its job is %+v", job)
	}
	x.State, x.Desired, x.BrakedBy, x.Reason, x.Note, x.Outcome = workflow.Starting, workflow.Stop, "disk", "why", "note",
		workflow.Stopped
	x.Attempt, x.Epoch, x.Labels = 2, 3, map[string]string{"k": "v", "odd": `"'%_`}
	x.Marks = workflow.Marks{Pages: 10, Letters: true, Began: c.at}
	x.Stats = &workflow.Stats{Pages: 3, Statuses: map[int]int64{200: 3}}
	x.Audit = &workflow.AuditSummary{OK: true, At: c.at, Faults: []string{"f"}}
	x.Started, x.Ended, x.Trimmed, x.Discard = c.tick(), c.tick(), c.tick(), workflow.DiscardState
	c.must(c.s.Change(bg, x, workflow.Pending, c.event("execution.starting")))
	got, err := c.s.Execution(bg, x.ID)
	c.must(err)
	c.same("changed", got, x)
	last, err := c.s.Workflow(bg, "a")
	c.must(err)
	c.same("last", last.Last, x)
	x.Audit.Faults = nil // as earlier versions stored it; whoever reads it gets an array
	c.must(c.s.Change(bg, x, x.State, c.event("execution.annotated")))
	if got, err = c.s.Execution(bg, x.ID); err != nil || got.Audit.Faults == nil {
		c.Errorf("an audit without faults: %+v, %v", got.Audit, err)
	}
	if last.Executions != 1 {
		c.Errorf("%d executions", last.Executions)
	}
	_, err = c.s.Execution(bg, "a-2")
	c.is(err, workflow.ErrNotFound)
	for label, want := range map[string]int{"k": 1, "k=v": 1, "k=w": 0, "z": 0, `odd="'%_`: 1} {
		list, err := c.s.Executions(bg, workflow.ExecutionFilter{Label: label}, workflow.Page{Limit: 10})
		c.must(err)
		if len(list.Items) != want {
			c.Errorf("label %s: %d executions, want %d", label, len(list.Items), want)
		}
	}
}

func (c *controlSuite) lists() {
	a, b := c.workflow("a"), c.workflow("b")
	var want []crawl.JobID
	for i := range 11 {
		x := c.execution([]*workflow.Workflow{a, b}[i%2])
		if i%4 == 1 {
			c.at = c.at.Add(-time.Second) // the same moment as the next: ids decide
		}
		want = append(want, x.ID)
	}
	seen := map[crawl.JobID]bool{}
	var before *workflow.Execution
	for p := (workflow.Page{Limit: 3}); ; {
		list, err := c.s.Executions(bg, workflow.ExecutionFilter{}, p)
		c.must(err)
		if list.Total != 11 {
			c.Errorf("total %d", list.Total)
		}
		for _, x := range list.Items {
			if seen[x.ID] || before != nil && x.Created.After(before.Created) {
				c.Errorf("%s stands twice, or behind an older one", x.ID)
			}
			seen[x.ID], before = true, &x
		}
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	if len(seen) != len(want) {
		c.Errorf("%d of %d executions are in the list", len(seen), len(want))
	}
	c.listsOfOne()
}

// listsOfOne looks at the lists of one workflow, of workflows, and of open executions.
func (c *controlSuite) listsOfOne() {
	for _, id := range []string{"b", "wf_b"} {
		list, err := c.s.Executions(bg, workflow.ExecutionFilter{Workflow: id, States: []workflow.State{workflow.Pending}},
			workflow.Page{Limit: 20})
		c.must(err)
		if len(list.Items) != 5 || list.Items[0].ID != "b-5" {
			c.Errorf("%d executions of b, the first %s", len(list.Items), list.Items[0].ID)
		}
	}
	list, err := c.s.Workflows(bg, workflow.Filter{}, workflow.Page{Limit: 1})
	c.must(err)
	if len(list.Items) != 1 || list.Items[0].Slug != "b" || list.Items[0].Last.ID != "b-5" || list.Next == "" {
		c.Errorf("the newest workflow is %+v", list.Items)
	}
	open, err := c.s.Unsettled(bg)
	c.must(err)
	if len(open) != 11 || open[0].ID != "a-1" {
		c.Errorf("%d are unsettled, the first %s", len(open), open[0].ID)
	}
}

func (c *controlSuite) compareAndSet() {
	x := c.execution(c.workflow("a"))
	other := *x
	x.State = workflow.Starting
	c.must(c.s.Change(bg, x, workflow.Pending, c.event("execution.starting")))
	if x.Lock != 2 {
		c.Errorf("lock %d after a change", x.Lock)
	}
	other.State = workflow.Cancelled
	c.is(c.s.Change(bg, &other, workflow.Pending, c.event("execution.cancelled")), workflow.ErrStale)
	other.Lock = 2
	c.is(c.s.Change(bg, &other, workflow.Pending, c.event("execution.cancelled")), workflow.ErrStale)
	other.ID = "a-9"
	c.is(c.s.Change(bg, &other, workflow.Starting, c.event("execution.cancelled")), workflow.ErrStale)
	c.kinds(workflow.EventFilter{Execution: "a-1"}, "execution.created", "execution.starting")
}

func (c *controlSuite) race() {
	x := c.execution(c.workflow("a"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 8 {
		wg.Go(func() {
			mine := *x
			mine.State = workflow.Starting
			err := c.s.Change(bg, &mine, workflow.Pending, c.event("execution.starting"))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, workflow.ErrStale) {
				c.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		c.Errorf("%d of 8 changes from the same lock were stored", won)
	}
}

func (c *controlSuite) once() {
	w := c.workflow("a")
	job := crawl.DefaultJob()
	for range 2 {
		x := &workflow.Execution{Workflow: w.ID, Version: 1, State: workflow.Pending, Attempt: 1, Created: c.tick()}
		c.must(c.s.CreateExecution(bg, x, &job, "then b-1 1", c.event("execution.created")))
		if x.ID != "a-1" {
			c.Errorf("the same cause made %s", x.ID)
		}
	}
	c.kinds(workflow.EventFilter{Execution: "a-1"}, "execution.created")
}
