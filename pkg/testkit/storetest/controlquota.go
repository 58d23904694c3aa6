package storetest

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// beginAs stores an execution of an account with a quota.
func (c *controlSuite) beginAs(w *workflow.Workflow, account string, q *workflow.Quota) (*workflow.Execution, error) {
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/"}
	x := &workflow.Execution{Workflow: w.ID, Version: 1, State: workflow.Pending, Desired: workflow.Run, Attempt: 1,
		Epoch: 1, Labels: map[string]string{},
		Created: c.at, Account: account, Quota: q, Today: workflow.DayOf(c.at)}
	return x, c.s.CreateExecution(bg, x, &job, "", c.event("execution.created"))
}

// forbids checks which quota an error is of.
func (c *controlSuite) forbids(err error, quota string) {
	c.Helper()
	if over := (*workflow.OverQuota)(nil); !errors.As(err, &over) || over.Quota != quota {
		c.Errorf("error %v, want the quota %s", err, quota)
	}
}

func (c *controlSuite) quotas() {
	w := c.workflow("a")
	two := &workflow.Quota{Running: 2, Bytes: 100}
	var all []*workflow.Execution
	for range 2 {
		x, err := c.beginAs(w, "ann", two)
		c.must(err)
		all = append(all, x)
	}
	_, err := c.beginAs(w, "ann", two)
	c.forbids(err, workflow.QuotaRunning)
	got, err := c.s.Workflow(bg, "a")
	c.must(err)
	if got.Executions != 2 {
		c.Errorf("%d executions, and one that was refused used up a number", got.Executions)
	}
	_, err = c.beginAs(w, "bob", two)
	c.must(err)
	x := all[0]
	x.State, x.Ended, x.Stats, x.Quota = workflow.Stopped, c.tick(), &workflow.Stats{Bytes: 120}, nil
	c.must(c.s.Change(bg, x, workflow.Pending, c.event("execution.stopped")))
	u, err := c.s.Usage(bg, "ann", workflow.DayOf(c.at))
	c.must(err)
	c.same("usage", u, workflow.Usage{Running: 1, Bytes: 120, Since: workflow.DayOf(c.at)})
	_, err = c.beginAs(w, "ann", two)
	c.forbids(err, workflow.QuotaBytes)
	back, err := c.s.Execution(bg, x.ID)
	c.must(err)
	if back.Account != "ann" {
		c.Errorf("account %q", back.Account)
	}
	back.State, back.Ended, back.Quota = workflow.Pending, x.Created.Add(-1), &workflow.Quota{Running: 1}
	back.Ended = workflow.Execution{}.Ended
	c.forbids(c.s.Change(bg, back, workflow.Stopped, c.event("execution.reopened")), workflow.QuotaRunning)
	x.Discard = workflow.DiscardAll // what goes does not count
	c.must(c.s.Change(bg, x, workflow.Stopped, c.event("execution.deleting")))
	_, err = c.beginAs(w, "ann", two)
	c.must(err)
}

// quotaRace: of many at once, no more begin than may.
func (c *controlSuite) quotaRace() {
	w := c.workflow("a")
	var began atomic.Int32
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := c.beginAs(w, "ann", &workflow.Quota{Running: 3}); err == nil {
				began.Add(1)
			} else {
				c.forbids(err, workflow.QuotaRunning)
			}
		})
	}
	wg.Wait()
	if began.Load() != 3 {
		c.Errorf("%d began, want 3", began.Load())
	}
}

func (c *controlSuite) dayPages() {
	w := c.workflow("a")
	x, err := c.beginAs(w, "ann", nil)
	c.must(err)
	for _, n := range []struct {
		day   workflow.Day
		pages int64
	}{{"2026-11-26", 40}, {"2026-11-27", 50}, {"2026-11-27", 90}, {"2026-11-27", 90}, {"2026-11-27", 60}} {
		c.must(c.s.CountPages(bg, "ann", x.ID, n.day, n.pages))
	}
	c.must(c.s.CountPages(bg, "ann", "gone-1", "2026-11-27", 7)) // also of one that is deleted
	c.must(c.s.CountPages(bg, "bob", "b-1", "2026-11-27", 1000))
	pages := func(day workflow.Day, want int64) {
		c.Helper()
		u, err := c.s.Usage(bg, "ann", day)
		c.must(err)
		if u.Pages != want {
			c.Errorf("on %s %d pages, want %d", day, u.Pages, want)
		}
	}
	pages("2026-11-26", 40)
	pages("2026-11-27", 57)
	pages("2026-11-28", 0)
	_, err = c.beginAs(w, "ann", &workflow.Quota{PagesPerDay: 57}) // the suite's clock is on another day
	c.must(err)
	c.must(c.s.ForgetPages(bg, "2026-12-30"))
	c.must(c.s.CountPages(bg, "ann", x.ID, "2026-12-31", 95))
	pages("2026-12-31", 5) // the last of what there is stays known
	pages("2026-11-26", 0)
}
