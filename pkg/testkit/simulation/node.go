package simulation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/handover"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Node is a broker and the programs beside it, which share one membership of the ring.
type Node struct {
	Name    string
	cluster *Cluster
	broker  *broker
	queues  *queues
	bus     *nodeBus
	way     *memstore.Client // to the ring's store
	pages   atomic.Int64     // fetched
	asked   atomic.Int64     // requests
	lives   atomic.Int64     // frontiers that were built

	// Of one life of the programs.
	member   *member.Member
	frontier atomic.Pointer[frontier.Frontier]
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// start begins a life of the node's programs.
func (n *Node) start() error {
	c := n.cluster
	cfg := member.Default()
	cfg.Node = ring.Node{Name: n.Name, Address: n.Name + ":5672", Weight: ring.Unit}
	cfg.Vnodes, cfg.Grace, cfg.Log = 0, c.cfg.Grace, c.log
	if c.cfg.Broken.Unfenced == n.Name {
		cfg.Clock = func() time.Duration { return time.Since(epoch) / 8 }
	}
	var err error
	if n.member, err = member.New(n.way, cfg); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	l := fencedLedger{c.ledger, n}
	whose := owners{ring.Router{Self: n.Name, Current: n.member.Table}}
	claims := due.New(due.Deps{URLs: l, Ledger: l, Budgets: c.records, Attempts: noLog{}, Jobs: c.jobs,
		CacheBits: c.cfg.CacheBits, Owners: whose, Following: c.following})
	n.run(ctx,
		n.member.Run,
		n.lead,
		stageOf(n, "fetcher", crawl.TopicFetch, c.cfg.Window, fetcher{n}),
		stageOf(n, "urlfilter", crawl.TopicParse, 16, reader{n}),
		stageOf(n, "hostsplitter", crawl.TopicHostSplitter, 8, hostsplitter.New(whose, n.recent())),
		stageOf(n, "due", crawl.TopicDUE, 8, claims))
	return nil
}

// recent is what the host splitter remembers, in one life.
func (n *Node) recent() *hostsplitter.Recent {
	c := n.cluster
	if c.cfg.Recent == 0 {
		return nil
	}
	return hostsplitter.NewRecent(hostsplitter.RecentConfig{Bits: c.cfg.Recent, Patience: c.cfg.Patience,
		Unconfirmed: c.cfg.Broken.Unconfirmed},
		c.jobs, c.splits)
}

func (n *Node) run(ctx context.Context, programs ...func(context.Context) error) {
	for _, p := range programs {
		n.wg.Go(func() { n.cluster.note(p(ctx)) })
	}
}

func stageOf[In crawl.Event](n *Node, name, topic string, most int,
	h pipeline.Handler[In]) func(context.Context) error {
	return func(ctx context.Context) error {
		return pipeline.Run(ctx, n.bus,
			pipeline.Config{Name: name, Topic: topic, Workers: bus.Workers{Min: 1, Max: most}, Log: n.cluster.log}, h)
	}
}

// lead runs a frontier for each registration of the node, one after the other.
func (n *Node) lead(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := n.leadOnce(ctx); err != nil && !errors.Is(err, handover.ErrOver) && ctx.Err() == nil {
			return err
		}
		n.queues.restart()
	}
	return nil
}

// leadOnce runs a frontier until ctx is done or the registration is over. It leases nothing before the requests of its
// predecessor have ended and it has their outcomes.
func (n *Node) leadOnce(ctx context.Context) error {
	c := n.cluster
	if !n.broker.quiet(ctx, crawl.TopicFetch) {
		return nil
	}
	l := fencedLedger{c.ledger, n}
	t, err := handover.Begin(ctx, handover.Config{Node: n.Name, Patience: c.cfg.Patience, Log: c.log,
		Quiet: func(context.Context) bool {
			return n.broker.depth(crawl.TopicFetch)+n.broker.depth(crawl.TopicOutcome) == 0
		}},
		handover.Deps{Member: n.member, Members: c.members, Ledger: l, Following: c.following})
	if err != nil {
		return err
	}
	cfg := frontier.Default()
	cfg.Window, cfg.ShareAddresses = c.cfg.Window, false
	f, err := frontier.New(cfg, frontier.Deps{Queues: n.queues, Ledger: l, Hosts: c.records, Jobs: c.jobs,
		Attempts: noLog{}, Bus: n.bus, Ring: n.ring(t), Following: c.following, Log: c.log})
	if err != nil {
		return err
	}
	if err := f.Recover(ctx, true); err != nil {
		return err
	}
	n.lives.Add(1)
	n.frontier.Store(f)
	return n.leadBy(ctx, t, f)
}

func (n *Node) ring(t *handover.Ownership) frontier.Ring {
	if n.cluster.cfg.Broken.NoSince {
		return timeless{t}
	}
	return ringOf{t}
}

// ringOf is a ownership as the frontier sees it.
type ringOf struct{ *handover.Ownership }

// Place implements frontier.Ring.
func (r ringOf) Place(u weburl.URL) frontier.Place { return frontier.Place(r.Ownership.Place(u)) }

// timeless forgets since when.
type timeless struct{ *handover.Ownership }

// Place implements frontier.Ring.
func (r timeless) Place(u weburl.URL) frontier.Place {
	p := frontier.Place(r.Ownership.Place(u))
	p.Since = time.Time{}
	return p
}

func (n *Node) leadBy(ctx context.Context, t *handover.Ownership, f *frontier.Frontier) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{
		stageOf(n, "frontier", crawl.TopicFrontierIn, 4, f.In()),
		stageOf(n, "frontier", crawl.TopicOutcome, 16, f.Outcomes()),
		func(ctx context.Context) error { return t.Run(ctx, f) },
		func(ctx context.Context) error {
			if !n.broker.quiet(ctx, crawl.TopicOutcome) {
				return nil
			}
			return f.Run(ctx)
		},
	} {
		wg.Go(func() {
			if err := run(ctx); err != nil {
				stop(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// owners is a ring.Router as host splitter and DUE need it.
type owners struct{ ring.Router }

// View implements crawl.Owners.
func (o owners) View() (crawl.OwnersView, error) {
	v, err := o.Router.View()
	return v, err
}

// Stop ends the programs in order; what is in the broker stays.
func (n *Node) Stop() {
	n.cancel()
	n.wg.Wait()
}

// Kill ends the node at this instant, its broker included. The ring's store does not hear of it.
func (n *Node) Kill() {
	n.way.Cut()
	n.broker.kill()
	n.Stop()
}

// tenure returns the registration under which the node may make requests, 0 where it may make none, and for how long
// that is certain; a change is noticed a look later.
func (n *Node) tenure() (incarnation uint64, certain time.Duration) {
	left := n.member.Left()
	if left <= 0 {
		return 0, look
	}
	return n.member.Incarnation(), min(tick(left), look)
}

// look is how often a fetcher asks whether its node's registration stands. It hears of that from the ring's store
// otherwise.
const look = 100 * time.Millisecond
