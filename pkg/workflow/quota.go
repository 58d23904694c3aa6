package workflow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Quota bounds what one account may use. The zero value of a number is no bound; that of IgnoreRobots forbids.
type Quota struct {
	Running      int            `json:"running,omitempty" minimum:"0" maximum:"100000" doc:"executions that have not ended, paused ones among them; 0: no bound"`
	PagesPerDay  int64          `json:"pages_per_day,omitempty" minimum:"0" doc:"pages that all executions get from midnight to midnight, UTC; what runs pauses until then; 0: no bound"`
	Bytes        int64          `json:"bytes,omitempty" minimum:"0" doc:"of executions that have ended and were not deleted: where they are more, none is started; 0: no bound"`
	MinDelay     crawl.Duration `json:"min_delay,omitempty" doc:"least politeness.delay for each of politeness.host_connections that a definition may have; 0s: no bound"`
	IgnoreRobots bool           `json:"ignore_robots,omitempty" doc:"definitions may have ignore_robots and login.ignore_robots"`
	BuiltinOnly  bool           `json:"builtin_only,omitempty" doc:"definitions may name no plug-ins but those of the program"`
}

// Usage is what an account uses of its Quota.
type Usage struct {
	Running int   `json:"running"`   // executions that have not ended
	Pages   int64 `json:"pages_day"` // since midnight, UTC
	Bytes   int64 `json:"bytes"`     // of executions that have ended
	Since   Day   `json:"day"`       // that Pages is of
}

// Day is a day in UTC, as in 2026-11-27. Days compare as their texts do.
type Day string

// DayOf is the day of an instant.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// The quotas, as OverQuota names them.
const (
	QuotaRunning      = "running"
	QuotaPagesPerDay  = "pages_per_day"
	QuotaBytes        = "bytes"
	QuotaMinDelay     = "min_delay"
	QuotaIgnoreRobots = "ignore_robots"
	QuotaBuiltinOnly  = "builtin_only"
)

// OverQuota says that a quota forbids what was asked for. Its text says what to do.
type OverQuota struct { //nolint:errname // errors.As(err, &over) reads well
	Quota string // one of those above
	Limit any    // of the quota
	Have  any    // what the account has, or asked for
	Text  string
}

// Error implements error.
func (e *OverQuota) Error() string { return "quota " + e.Quota + ": " + e.Text }

// Starts says which quota forbids an account with this usage a further execution; nil: none does.
func (q *Quota) Starts(u Usage) *OverQuota {
	switch {
	case q.Running > 0 && u.Running >= q.Running:
		return &OverQuota{QuotaRunning, q.Running, u.Running, fmt.Sprintf(
			"you have %d executions that have not ended, and may have %d: wait for the end of one, or stop one", u.Running,
			q.Running)}
	case q.Bytes > 0 && u.Bytes >= q.Bytes:
		return &OverQuota{QuotaBytes, q.Bytes, u.Bytes, fmt.Sprintf(
			"your executions hold %d bytes, and may hold %d: delete some that have ended", u.Bytes, q.Bytes)}
	}
	return q.spent(u)
}

// spent says that the pages of the day are used up; nil: they are not.
func (q *Quota) spent(u Usage) *OverQuota {
	if q.PagesPerDay == 0 || u.Pages < q.PagesPerDay {
		return nil
	}
	return &OverQuota{QuotaPagesPerDay, q.PagesPerDay, u.Pages, fmt.Sprintf(
		"your executions got %d pages since midnight UTC, and may get %d a day: wait for the next day, or ask an "+
			"administrator for more",
		u.Pages, q.PagesPerDay)}
}

// Permits says which quota forbids a definition; nil: none does. What the definition before it had already is not asked
// for again: somebody who may have it wrote it. before is nil where there is none.
func (q *Quota) Permits(next, before *crawl.Job) *OverQuota {
	const ask = ": ask an administrator to write it, or for another quota"
	ignores := func(j *crawl.Job) bool { return j != nil && (j.IgnoreRobots || j.Login.IgnoreRobots) }
	spacing := func(j *crawl.Job) time.Duration {
		return j.Politeness.Delay.D() / time.Duration(max(j.Politeness.HostConnections, 1))
	}
	least := q.MinDelay.D()
	if before != nil {
		least = min(least, spacing(before))
	}
	switch {
	case !q.IgnoreRobots && ignores(next) && !ignores(before):
		return &OverQuota{QuotaIgnoreRobots, false, true, "you may not write ignore_robots" + ask}
	case spacing(next) < least:
		return &OverQuota{QuotaMinDelay, q.MinDelay.String(), spacing(next).String(), fmt.Sprintf(
			"politeness.delay is %s for each of %d host_connections, that is %s, and has to be %s at least"+ask,
			next.Politeness.Delay, max(next.Politeness.HostConnections, 1), spacing(next), q.MinDelay)}
	case q.BuiltinOnly:
		return foreign(next, before, ask)
	}
	return nil
}

// foreign finds a plug-in that does not come with the program and that the definition before did not name.
func foreign(next, before *crawl.Job, ask string) *OverQuota {
	known := map[string]bool{}
	if before != nil {
		for i := range before.Pipeline.Nodes {
			known[before.Pipeline.Nodes[i].Use] = true
		}
	}
	for i := range next.Pipeline.Nodes {
		if use := next.Pipeline.Nodes[i].Use; !strings.HasPrefix(use, "builtin/") && !known[use] {
			return &OverQuota{QuotaBuiltinOnly, true, use,
				fmt.Sprintf("you may not name the plug-in %s, but those of builtin only"+ask, use)}
		}
	}
	return nil
}

type accountKey struct{}

// WithAccount says whose quota counts what is done under the context; empty: nobody's.
func WithAccount(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// accountOf is what WithAccount said.
func accountOf(ctx context.Context) string {
	account, _ := ctx.Value(accountKey{}).(string)
	return account
}

// quotaOf is the quota of an account; nil: there is no bound.
func (m *Manager) quotaOf(ctx context.Context, account string) (*Quota, error) {
	if account == "" || m.opt.Quota == nil {
		return nil, nil //nolint:nilnil // none is none
	}
	q, err := m.opt.Quota(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("quota of %s: %w", account, err)
	}
	return q, nil
}

// bound lets the store refuse to begin or reopen an execution whose account has used up its quota.
func (m *Manager) bound(ctx context.Context, x *Execution) (err error) {
	x.Today = DayOf(m.now())
	x.Quota, err = m.quotaOf(ctx, x.Account)
	return err
}

// Usage is what an account uses now.
func (m *Manager) Usage(ctx context.Context, account string) (Usage, error) {
	return m.store.Usage(ctx, account, DayOf(m.now()))
}

// mayStart says which quota forbids an execution. The store looks again when it is stored.
func (m *Manager) mayStart(ctx context.Context, x *Execution) error {
	if x.Quota == nil {
		return nil
	}
	u, err := m.Usage(ctx, x.Account)
	if err != nil {
		return err
	}
	if over := x.Quota.Starts(u); over != nil {
		return over
	}
	return nil
}

// permit refuses a definition that the account of the context may not write. before is the version that it changes;
// nil: none.
func (m *Manager) permit(ctx context.Context, next *crawl.Job, before *Version) error {
	q, err := m.quotaOf(ctx, accountOf(ctx))
	if err != nil || q == nil {
		return err
	}
	var was *crawl.Job
	if before != nil {
		if was, err = crawl.DecodeJob(before.Definition, 0); err != nil {
			return err
		}
	}
	if over := q.Permits(next, was); over != nil {
		return over
	}
	return nil
}

// refusedEvery is how often it is told that runs of a workflow are refused to an account.
const refusedEvery = time.Minute

// refused tells in an event of the workflow that a quota refused a run.
func (m *Manager) refused(ctx context.Context, actor, account string, id ID, over *OverQuota) {
	m.mu.Lock()
	key := account + " " + string(id)
	told := m.now().Sub(m.told[key]) < refusedEvery
	if !told {
		for k, at := range m.told { // few are so young
			if m.now().Sub(at) >= refusedEvery {
				delete(m.told, k)
			}
		}
		m.told[key] = m.now()
	}
	m.mu.Unlock()
	if told {
		return
	}
	e := m.event(actor, "quota.refused", map[string]any{"account": account, "quota": over.Quota, "limit": over.Limit,
		"have": over.Have})
	e.Workflow = id
	if err := m.store.AddEvent(WithoutAudit(ctx), e); err != nil && ctx.Err() == nil {
		m.opt.Log.Warn("a refused run is not told in the events", "workflow", id, "account", account, "error", err)
	}
}
