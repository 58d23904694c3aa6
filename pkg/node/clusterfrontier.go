package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/handover"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline/recovery"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// runFrontier builds a frontier over queues of its own and runs it until ctx is done or the queues are lost
// (rabbit.ErrLost).
//
// On a ring it works by the node's registration, and ends with that: what it has in memory may be old then.
//
// A frontier does not know what its predecessor leased, and a host must not be contacted while a request to it may be
// under way. So it first waits until the fetchers have ended all of those, and leases nothing before it has their
// outcomes: a host may have asked for rest.
func (c *cluster) runFrontier(ctx context.Context) error {
	land, err := c.ownership(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	cfg := RabbitConfig(c.p.Config)
	cfg.Program, cfg.Log = c.p.Name, c.p.Log
	queues, err := rabbit.OpenQueues(ctx, cfg)
	if err != nil {
		return stopped(ctx, again(err))
	}
	defer func() { _ = queues.Close() }() // what was pulled goes back, whatever it says
	deps := c.frontierDeps(queues, land)
	n, err := c.node(deps, Frontier)
	if err != nil {
		return err
	}
	if err := n.Recover(ctx, true); err != nil {
		return stopped(ctx, again(err))
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hosts := newHostWatch(c.postgres.Guests(), n.frontier, c.p.Config.Node, c.p.Log)
	if err := hosts.begins(working); err != nil {
		return stopped(ctx, again(err))
	}
	go hosts.run(working)
	c.besideFrontier(working, stop, n, queues, &deps, land)
	c.lead(n.frontier)
	defer c.lead(nil)
	c.p.Ready()
	err = n.Run(working)
	if working.Err() != nil && ctx.Err() == nil {
		return again(errors.Join(context.Cause(working), err))
	}
	return err
}

// ownership enters the ring; nil: a node on its own, to which all hosts belong.
func (c *cluster) ownership(ctx context.Context) (*handover.Ownership, error) {
	if c.member == nil {
		return nil, nil
	}
	return c.enterRing(ctx)
}

// frontierDeps is what a frontier works on, with the waits before it recovers and before it leases.
func (c *cluster) frontierDeps(queues *rabbit.Queues, land *handover.Ownership) Deps {
	deps := c.deps()
	deps.Stores.Queues = queues
	if land != nil {
		deps.Ring = ringOf{land}
	}
	deps.BeforeRecover = func(ctx context.Context) error {
		c.p.Log.Info("the frontier waits for the requests that were under way when it stopped")
		return c.awaitQuiet(ctx, crawl.TopicFetch)
	}
	deps.BeforeLease = func(ctx context.Context) error {
		if err := c.awaitQuiet(ctx, crawl.TopicOutcome); err != nil {
			return err
		}
		c.p.Log.Info("the frontier begins to lease")
		return nil
	}
	return deps
}

// besideFrontier starts what runs beside a frontier until working ends: it ends all when the queues are lost, does the
// ring's moves, and follows the revisions and the ends of jobs.
func (c *cluster) besideFrontier(working context.Context, stop context.CancelCauseFunc, n *Node, queues *rabbit.Queues,
	deps *Deps, land *handover.Ownership) {
	go func() {
		select {
		case <-queues.Lost():
			stop(queues.Cause())
		case <-working.Done():
		}
	}()
	if land != nil {
		go func() { stop(land.Run(working, n.frontier)) }()
	}
	w := c.jobWatch(n.frontier, deps, land)
	r := &jobRevisions{jobs: c.postgres.Jobs(), frontier: n.frontier, log: c.p.Log, found: c.postgres.Revisits(),
		sweeper: &sweeper{jobs: c.postgres.Jobs(),
			left: c.postgres.URLs(), look: c.postgres.URLs(), bus: deps.Bus, judge: n.judge, log: c.p.Log}}
	w.concluded = r.concluded
	go r.run(working)
	go w.run(working)
	looks := &lookWatch{looks: c.postgres.QueueLooks(), frontier: n.frontier, node: c.p.Config.Node, log: c.p.Log}
	go looks.run(working)
}

// ringOf is a ownership as the frontier sees it.
type ringOf struct{ land *handover.Ownership }

// Place implements frontier.Ring.
func (r ringOf) Place(u weburl.URL) frontier.Place { return frontier.Place(r.land.Place(u)) }

// jobWatch watches the jobs, and what they lose.
func (c *cluster) jobWatch(f *frontier.Frontier, deps *Deps, land *handover.Ownership) *jobWatch {
	w := &jobWatch{store: c.postgres, jobs: c.postgres.Jobs(), ledger: deps.Stores.Ledger, frontier: f, bus: c.wires,
		rules: c.postgres.Hosts(), log: c.p.Log, following: deps.Stores.Following, patience: patience(c.p.Config),
		ring: land != nil}
	w.lost = &recovery.Watch{Frontier: f, Quiet: c.quiet, Topics: Topics(), Buried: c.buried,
		Recovery: recovery.Recovery{Ledger: c.postgres.URLs(), Following: w.following, Visits: c.postgres.Revisits(),
			Log: c.p.Log}}
	if land != nil {
		w.takeBack, w.lost.Recovery = land.TakeBack, *land.Recovery()
	}
	return w
}

// quiet reports whether neither the broker nor this process holds a message of the topics.
func (c *cluster) quiet(ctx context.Context, topics ...string) bool {
	ctx, cancel := context.WithTimeout(ctx, quietPatience)
	defer cancel()
	return c.awaitQuiet(ctx, topics...) == nil
}

// maxLetters bounds the dead letters that are read.
const maxLetters = 100_000

// buried returns the pages whose story a dead letter in the broker would go on with.
func (c *cluster) buried(ctx context.Context) (map[crawl.JobID]map[weburl.Key]bool, error) {
	letters, err := c.bus.Dead(ctx, maxLetters)
	out := map[crawl.JobID]map[weburl.Key]bool{}
	for _, l := range letters {
		job, page, ok := crawl.PageOf(l.Message.Event)
		if !ok {
			continue
		}
		if out[job] == nil {
			out[job] = map[weburl.Key]bool{}
		}
		out[job][page.Key()] = true
	}
	return out, err
}

// lead notes the frontier that is at work, so that a full disk can pause it.
func (c *cluster) lead(f *frontier.Frontier) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leading = f; f != nil {
		f.Pause(c.full)
	}
}

// diskFull pauses the frontier, or lets it go on.
func (c *cluster) diskFull(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full = full; c.leading != nil {
		c.leading.Pause(full)
	}
}

// again marks the end of a beginning that waiting may help: a broker or a store may be away then as well as later.
func again(err error) error {
	if crawl.IsPermanent(err) {
		return err
	}
	return fmt.Errorf("%w: %w", process.ErrRebuild, err)
}

// stopped is err, unless it came of ctx.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // being told to end is no failure
	}
	return err
}
