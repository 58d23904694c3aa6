package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func (c *controlSuite) swaps() {
	swap := func(was, value string, want error) {
		c.Helper()
		bytes := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		if err := c.s.SwapValue(bg, "s", "k", bytes(was), bytes(value)); want == nil {
			c.must(err)
		} else {
			c.is(err, want)
		}
	}
	swap("", "a", nil)
	swap("", "b", workflow.ErrStale)
	swap("b", "c", workflow.ErrStale)
	swap("a", "b", nil)
	swap("a", "", workflow.ErrStale)
	swap("b", "", nil)
	swap("b", "", workflow.ErrStale)
	swap("", "0", nil)
	var wg sync.WaitGroup
	var won atomic.Int32
	for n := range 8 {
		wg.Go(func() {
			if err := c.s.SwapValue(bg, "s", "k", []byte("0"), []byte(fmt.Sprint("to ", n))); err == nil {
				won.Add(1)
			} else {
				c.is(err, workflow.ErrStale)
			}
		})
	}
	if wg.Wait(); won.Load() != 1 {
		c.Errorf("%d of 8 swapped the same value", won.Load())
	}
}

func (c *controlSuite) audits() {
	var want []workflow.Audit
	for n := range 6 {
		a := workflow.Audit{At: c.tick(), Actor: fmt.Sprint("u", n%2), Via: "session", Role: "user", From: "192.0.2.1", Method: "POST", Path: "/p",
			Action: fmt.Sprint("act", n%3), Status: 200 + 203*(n%2), Request: "r", Change: json.RawMessage(`{"a":1}`)}
		if n == 0 {
			a.Change = nil
		}
		c.must(c.s.AddAudit(bg, &a))
		want = append([]workflow.Audit{a}, want...)
	}
	if want[0].ID <= want[1].ID || !want[0].Refused() || want[1].Refused() {
		c.Errorf("%+v stands behind %+v", want[0], want[1])
	}
	all := func(f workflow.AuditFilter, limit int) (out []workflow.Audit) {
		c.Helper()
		for p := (workflow.Page{Limit: limit}); ; {
			l, err := c.s.Audits(bg, f, p)
			c.must(err)
			out = append(out, l.Items...)
			if p.Cursor = l.Next; p.Cursor == "" {
				return out
			}
		}
	}
	c.same("all", all(workflow.AuditFilter{}, 4), want)
	c.same("of one", all(workflow.AuditFilter{Actor: "u1"}, 9), []workflow.Audit{want[0], want[2], want[4]})
	c.same("refused", all(workflow.AuditFilter{Refused: true}, 2), []workflow.Audit{want[0], want[2], want[4]})
	c.same("of an action", all(workflow.AuditFilter{Action: "act0"}, 2), []workflow.Audit{want[2], want[5]})
	c.same("of a time", all(workflow.AuditFilter{Since: want[3].At, Until: want[1].At}, 9), want[2:4])
	c.same("of another time", all(workflow.AuditFilter{Since: c.at.Add(time.Second)}, 9), []workflow.Audit(nil))
}
