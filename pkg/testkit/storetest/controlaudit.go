package storetest

import (
	"context"
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
		a := workflow.Audit{At: c.tick(), Actor: fmt.Sprint("u", n%2), Via: "session", Role: "user", From: "192.0.2.1",
			Method: "POST", Path: "/p", Action: fmt.Sprint("act", n%3), Status: 200 + 203*(n%2), Request: "r",
			Change: json.RawMessage(`{"a":1}`)}
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

// auditedChanges has changes write the audit log: with the change, once, and not at all where there is none.
func (c *controlSuite) auditedChanges() {
	log := func() []workflow.Audit {
		c.Helper()
		l, err := c.s.Audits(bg, workflow.AuditFilter{Actor: "changes"}, workflow.Page{Limit: 100})
		c.must(err)
		return l.Items
	}
	entry := func(path string) *workflow.Audit {
		return &workflow.Audit{At: c.tick(), Actor: "changes", Method: "POST", Path: path, Status: 200}
	}
	for n, change := range []func(context.Context) error{
		func(ctx context.Context) error { return c.s.SetValue(ctx, "audited", "a", []byte("1")) },
		func(ctx context.Context) error { return c.s.SwapValue(ctx, "audited", "a", []byte("1"), []byte("2")) },
		func(ctx context.Context) error { return c.s.SetValue(ctx, "audited", "a", nil) },
		func(ctx context.Context) error { return c.s.SwapValue(ctx, "audited", "b", nil, []byte("1")) },
		func(ctx context.Context) error {
			return c.s.AddEvent(ctx, workflow.Event{At: c.tick(), Type: "settings.changed"})
		},
	} {
		a := entry(fmt.Sprint("/", n))
		ctx := workflow.WithAudit(bg, a)
		c.is(c.s.SwapValue(ctx, "audited", "none", []byte("x"), []byte("y")), workflow.ErrStale)
		if got := log(); len(got) != n || a.ID != 0 || !workflow.AuditWaits(ctx) {
			c.Errorf("of a change that failed: %+v", got)
		}
		c.must(change(ctx))
		c.must(c.s.SetValue(ctx, "audited", "more", []byte("1")))
		if got := log(); len(got) != n+1 || got[0].Path != a.Path || got[0].ID != a.ID || workflow.AuditWaits(ctx) {
			c.Errorf("after change %d: %+v, want %+v at last", n, got, a)
		}
	}
	c.unauditedChanges(log, entry)
}

// unauditedChanges are those that have no entry, and one whose entry cannot be stored.
func (c *controlSuite) unauditedChanges(log func() []workflow.Audit, entry func(path string) *workflow.Audit) {
	before := len(log())
	for _, ctx := range []context.Context{workflow.WithoutAudit(workflow.WithAudit(bg, entry("/on-the-way"))),
		dropped(entry("/too-late"))} {
		c.must(c.s.SetValue(ctx, "audited", "more", []byte("2")))
	}
	if got := log(); len(got) != before {
		c.Errorf("what is no change stands in the log: %+v", got)
	}
	// An entry that cannot be stored: its change is not made either. (Not every store refuses this text.)
	err := c.s.SetValue(workflow.WithAudit(bg, entry("/\x00")), "audited", "with", []byte("1"))
	value, errValue := c.s.Value(bg, "audited", "with")
	c.must(errValue)
	if made := value != nil; made != (err == nil) || len(log()) != before+map[bool]int{true: 1}[made] {
		c.Errorf("the change is made: %v, and the log has %+v (%v)", made, log(), err)
	}
}

func dropped(a *workflow.Audit) context.Context {
	ctx := workflow.WithAudit(bg, a)
	workflow.DropAudit(ctx)
	return ctx
}
