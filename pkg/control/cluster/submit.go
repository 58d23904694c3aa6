package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Submit implements control.Service.
func (c *Cluster) Submit(ctx context.Context, s control.Submission) (*control.Submitted, error) {
	out := &control.Submitted{}
	if s.Fresh {
		err := c.ready(ctx, s.Job)
		if err == nil {
			err = c.plugged(ctx, s.Job)
		}
		if err == nil {
			out.Deleted, err = c.deleteIfKnown(ctx, s.Job.ID)
		}
		if err != nil {
			return out, err
		}
	}
	err := crawl.ErrRevised
	for errors.Is(err, crawl.ErrRevised) { // somebody else submitted it meanwhile: theirs is the one to change
		out.Job, out.Changes, err = c.store(ctx, s)
	}
	if err != nil {
		return out, err
	}
	out.Stored = true
	n, state, err := c.queueSeeds(ctx, out.Job, out.Changes)
	if err != nil {
		return out, err
	}
	out.Queued, out.State = n, string(state)
	if err := c.queueLists(ctx, s, out); err != nil {
		return out, err
	}
	if n == 0 {
		out.Ended, err = c.ended(ctx, out.Job)
	}
	return out, err
}

// store makes a revision of the job, and returns it with what it changes.
func (c *Cluster) store(ctx context.Context, s control.Submission) (*crawl.Job, []crawl.Change, error) {
	job, jobs, err := c.merged(ctx, s)
	if err == nil {
		err = c.ready(ctx, job)
	}
	if err == nil {
		err = c.pinned(ctx, job)
	}
	if err != nil {
		return nil, nil, err
	}
	return node.Revise(ctx, jobs, job)
}

// ready refuses a job that the cluster cannot crawl, and fails where no broker takes its seeds.
func (c *Cluster) ready(ctx context.Context, job *crawl.Job) error {
	if err := checkPrivate(c.Config, job); err != nil {
		return err
	}
	if err := checkOrder(job); err != nil {
		return err
	}
	return c.Bus.Reach(ctx)
}

// pinned refuses a job whose plug-ins the cluster cannot use, and pins those that it has: to what the job's last
// revision had, else to what their names mean now.
func (c *Cluster) pinned(ctx context.Context, job *crawl.Job) error {
	if job.Pipeline.Empty() {
		return nil
	}
	current, known, err := c.Postgres.Jobs().Current(ctx, job.ID)
	if err != nil {
		return err
	}
	if known {
		job.Pipeline.KeepDigests(&current.Pipeline)
	}
	return c.plugged(ctx, job)
}

// plugged pins the plug-ins of a job to what their names mean now.
func (c *Cluster) plugged(ctx context.Context, job *crawl.Job) error {
	if err := node.PinPlugins(ctx, c.Config.Plugins, c.Postgres, job); err != nil {
		return &control.Misuse{Err: err}
	}
	return nil
}

// merged is the job that is stored: of one that is known already, what it is to become, where nobody else revises it
// meanwhile.
func (c *Cluster) merged(ctx context.Context, s control.Submission) (*crawl.Job, crawl.JobStore, error) {
	jobs := c.Postgres.Jobs()
	if s.Known == nil {
		return s.Job, jobs, nil
	}
	current, known, err := jobs.Current(ctx, s.Job.ID)
	if err != nil || !known {
		return s.Job, postgres.NextOf{Jobs: jobs}, err
	}
	from := current.Epoch
	job, err := s.Known(current)
	return job, postgres.NextOf{Jobs: jobs, Epoch: from}, err
}

// ended says how those of the seeds ended that are no pages and may be queued again.
func (c *Cluster) ended(ctx context.Context, job *crawl.Job) (out []control.Ended, err error) {
	seeds, err := job.SeedURLs()
	if err != nil {
		return nil, err
	}
	canon, seen := job.Canonicalizer(), map[weburl.URL]bool{}
	for _, u := range seeds {
		if u = canon.Canonical(u); seen[u] {
			continue
		}
		seen[u] = true
		entries, err := c.Postgres.URLs().Lookup(ctx, job.ID, u.Key())
		if err != nil {
			return nil, err
		}
		e := entries[0]
		if e.State != crawl.StateDone || !control.Retryable(e.Verdict) {
			continue
		}
		reason := cmp.Or(e.Reason, crawl.ReasonStatus)
		i := slices.IndexFunc(out, func(o control.Ended) bool { return o.Verdict == e.Verdict && o.Reason == reason })
		if i < 0 {
			i, out = len(out), append(out, control.Ended{Verdict: e.Verdict, Reason: reason})
		}
		out[i].URLs++
	}
	return out, nil
}

// queueList queues the seeds of a list, and lets the job run again where it had ended. The list is read as fast as the
// brokers take it. Read again, it queues nothing twice.
func (c *Cluster) queueList(ctx context.Context, job *crawl.Job, list *seedlist.List) (seedlist.Count, error) {
	count, err := node.FeedSeeds(ctx, c.Bus, c.Postgres.URLs(), c.Postgres.Hosts(), job, list)
	if err == nil {
		_, err = c.present(ctx, job)
	}
	if err == nil && count.Seeds > 0 { // the seeds that came first may all have been fetched meanwhile
		err = c.goOn(ctx, job)
	}
	return count, err
}

// queueLists queues the seeds that are not in the job.
func (c *Cluster) queueLists(ctx context.Context, s control.Submission, out *control.Submitted) (err error) {
	if s.List != nil {
		if out.List, err = c.queueList(ctx, out.Job, s.List); err != nil {
			return err
		}
	}
	out.Provided, err = c.queueProvided(ctx, out.Job, s.Bad)
	return err
}

// queueProvided queues what the nodes of a job's pipeline give, from this machine.
func (c *Cluster) queueProvided(ctx context.Context, job *crawl.Job,
	bad func(node string, line int, err error)) (map[string]seedlist.Count, error) {
	out := map[string]seedlist.Count{}
	lists, err := node.ProvidedLists(job)
	for id, list := range lists {
		if bad != nil {
			list.Bad = func(line int, err error) { bad(id, line, err) }
		}
		if out[id], err = c.queueList(ctx, job, list); err != nil {
			return out, err
		}
	}
	return out, err
}

// checkOrder refuses what only a crawl in a directory can do: nobody knows of a whole cluster when a level has ended.
func checkOrder(job *crawl.Job) error {
	if job.Order != crawl.OrderBreadth {
		return nil
	}
	return control.Misusef("order breadth: a cluster crawls by priority; `whirlpool crawl` crawls level by level, into " +
		"a directory")
}
