package storetest

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// labels: what a list by label has follows every change of an execution.
func (c *controlSuite) labels() {
	a, b := c.workflow("a"), c.workflow("b")
	var all []*workflow.Execution
	for i := range 6 {
		x := c.execution([]*workflow.Workflow{a, b}[i%2])
		x.Labels = map[string]string{"team": "x", "batch": fmt.Sprint(i % 3)}
		c.must(c.s.Change(bg, x, workflow.Pending, c.event("execution.annotated")))
		all = append(all, x)
	}
	c.picked(workflow.ExecutionFilter{Label: "team"}, "b-3", "a-3", "b-2", "a-2", "b-1", "a-1")
	c.picked(workflow.ExecutionFilter{Label: "batch=1"}, "a-3", "b-1")
	c.picked(workflow.ExecutionFilter{Label: "batch=1", Workflow: "b"}, "b-1")
	c.picked(workflow.ExecutionFilter{Label: "batch", States: []workflow.State{workflow.Running}})
	c.picked(workflow.ExecutionFilter{Label: "team=X"})
	all[1].State = workflow.Starting // b-1
	c.must(c.s.Change(bg, all[1], workflow.Pending, c.event("execution.starting")))
	all[2].Labels = map[string]string{"team": "y"} // a-2
	c.must(c.s.Change(bg, all[2], workflow.Pending, c.event("execution.annotated")))
	all[3].Discard = workflow.DiscardAll // b-2
	c.must(c.s.Change(bg, all[3], workflow.Pending, c.event("execution.deleting")))
	c.must(c.s.Remove(bg, all[4].ID, c.event("execution.deleted"))) // a-3
	c.picked(workflow.ExecutionFilter{Label: "team", States: []workflow.State{workflow.Starting, workflow.Running}}, "b-1")
	c.picked(workflow.ExecutionFilter{Label: "team=x"}, "b-3", "b-1", "a-1")
	c.picked(workflow.ExecutionFilter{Label: "batch=2"}, "b-3")
	c.picked(workflow.ExecutionFilter{Label: "team"}, "b-3", "a-2", "b-1", "a-1")
}

// picked reads a list by two at a time, and compares it.
func (c *controlSuite) picked(f workflow.ExecutionFilter, want ...string) {
	c.Helper()
	got, total := []string{}, int64(0)
	for p := (workflow.Page{Limit: 2}); ; {
		list, err := c.s.Executions(bg, f, p)
		c.must(err)
		for _, x := range list.Items {
			got = append(got, string(x.ID))
		}
		if p.Cursor == "" {
			total = list.Total
		}
		if p.Cursor = list.Next; p.Cursor == "" || len(got) > 100 {
			break
		}
	}
	c.same(fmt.Sprintf("%+v", f), got, append([]string{}, want...))
	if total != int64(len(want)) {
		c.Errorf("%+v: a total of %d, want %d", f, total, len(want))
	}
}
