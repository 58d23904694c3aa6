package workflow

import (
	"context"
	"time"
)

// BrakedByQuota is what Execution.BrakedBy says of one whose account has no pages left today.
const BrakedByQuota = "quota"

const (
	countEvery = 10 * time.Second // the pages of an execution are noted
	spentEvery = 10 * time.Second // it is looked whether an account has pages left
)

// pagesKept is for how many days it stays stored how many pages executions got.
const pagesKept = 35

// quotaMemo is what the conductor remembers of an execution's part in the pages of a day.
type quotaMemo struct {
	pages   int64     // that were noted
	left    int64     // that the account had left then; -1: it has no bound
	counted time.Time // when
	looked  time.Time // for spent
	spent   string    // why it must not get more pages today; empty: it may
}

// byQuota notes how many pages an execution has, and brakes it where its account has none left today.
func (c *conductor) byQuota(ctx context.Context, x *Execution, p *Progress) {
	if x.Account == "" {
		return
	}
	m, now := &c.memoOf(x).quota, c.now()
	used := m.left >= 0 && p.Pages-m.pages >= m.left // by this one alone, so that it need not wait
	if due := used || p.Ended || p.Stopped || now.Sub(m.counted) >= countEvery; p.Known && due && p.Pages != m.pages {
		if err := c.store.CountPages(ctx, x.Account, x.ID, DayOf(now), p.Pages); err != nil {
			c.quotaFails(ctx, x, err)
			return
		}
		m.pages, m.counted, m.looked = p.Pages, now, zeroTime
	}
	if now.Sub(m.looked) >= spentEvery {
		if err := c.lookSpent(ctx, x, m); err != nil {
			c.quotaFails(ctx, x, err)
		}
	}
	if m.spent != "" && p.Braked == "" && !p.Ended {
		p.Braked = BrakedByQuota
	}
}

func (c *conductor) lookSpent(ctx context.Context, x *Execution, m *quotaMemo) error {
	q, err := c.quotaOf(ctx, x.Account)
	if err != nil {
		return err
	}
	m.looked, m.left = c.now(), -1
	if m.spent = ""; q == nil || q.PagesPerDay == 0 {
		return nil
	}
	u, err := c.Usage(ctx, x.Account)
	if err != nil {
		return err
	}
	m.left = max(q.PagesPerDay-u.Pages, 0)
	if over := q.spent(u); over != nil {
		m.spent = over.Error()
	}
	return nil
}

func (c *conductor) quotaFails(ctx context.Context, x *Execution, err error) {
	if ctx.Err() == nil {
		c.opt.Log.Error("pages are not counted for the quota", "execution", x.ID, "account", x.Account, "error", err)
	}
}
