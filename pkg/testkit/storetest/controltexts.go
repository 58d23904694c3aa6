package storetest

import (
	"encoding/json"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// texts stores and looks for texts that not every database takes. None of them may keep others from a list, or a
// refused request out of the audit log.
func (c *controlSuite) texts() {
	const nul, broken = "a\x00b", "a\xffb"
	w := c.workflow("odd")
	w.Name, w.Labels = nul, map[string]string{"team": `x` + "\x00", "path": `C:\u0000`}
	c.must(c.s.UpdateWorkflow(bg, w, c.event("workflow.changed")))
	for label, want := range map[string]int{"team": 1, "team=x": 0, `path=C:\u0000`: 1, nul: 0, broken + "=" + nul: 0} {
		l, err := c.s.Workflows(bg, workflow.Filter{Label: label}, workflow.Page{Limit: 9})
		c.must(err)
		if len(l.Items) != want {
			c.Errorf("label %q: %d workflows, want %d", label, len(l.Items), want)
		}
	}
	for _, text := range []string{nul, broken} {
		if _, err := c.s.Workflow(bg, text); !errors.Is(err, workflow.ErrNotFound) {
			c.Errorf("workflow %q: %v", text, err)
		}
		_, err := c.s.Workflows(bg, workflow.Filter{Query: text}, workflow.Page{Limit: 9})
		c.must(err)
		c.must(c.s.AddAudit(bg, &workflow.Audit{At: c.tick(), Actor: "u", Method: "POST", Path: "/" + text, Status: 403,
			Change: json.RawMessage(`{"name":"a\u0000"}`)}))
	}
	l, err := c.s.Audits(bg, workflow.AuditFilter{}, workflow.Page{Limit: 9})
	c.must(err)
	if len(l.Items) != 2 || l.Items[0].Path != "/a\uFFFDb" || l.Items[1].Path != "/a\uFFFDb" {
		c.Errorf("the audit log has %+v", l.Items)
	}
}
