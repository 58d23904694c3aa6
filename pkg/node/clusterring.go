package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/peers"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/handover"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ringRetry is how long a message waits for a table of the ring, or for this node's place in it.
const ringRetry = time.Second

// openRing makes the program one that follows the ring, where its configuration names one. The program with the
// frontier is the node's member of the ring, the others that need it observe. Nothing is waited for.
func (c *cluster) openRing() error {
	cfg := c.p.Config
	if len(cfg.ZooKeeper.Addresses) == 0 || !c.plays(Frontier, Fetcher, HostSplitter, DUE) {
		return nil
	}
	m, err := memberConfig(cfg, c.plays(Frontier))
	if err != nil {
		return err
	}
	m.Log = c.p.Log
	z := ZooKeeperConfig(cfg)
	z.Log = c.p.Log
	store, err := zookeeper.New(z)
	if err != nil {
		return err
	}
	var kept member.Store = store
	if c.ringStore != nil {
		kept = c.ringStore(store)
	}
	c.member, err = member.New(kept, m)
	return err
}

// memberConfig translates the settings of a node's programs for its membership. An observer has no name.
func memberConfig(cfg *process.Config, registers bool) (member.Config, error) {
	out := member.Default()
	out.Grace, out.Vnodes, out.Clock = cfg.Ring.Grace.D(), cfg.Ring.Vnodes, member.BootClock
	var err error
	if out.Partition, err = ring.ParsePartition(cfg.Ring.Partition); err != nil {
		return out, err
	}
	if !registers {
		return out, nil
	}
	out.Node = ring.Node{Name: cfg.Node, Address: cfg.BrokerAddress()}
	out.Node.Weight, err = ring.WeightOf(cfg.Ring.Weight)
	return out, err
}

// peered joins the node's bus with those of the others.
func (c *cluster) peered(own bus.Bus) (*peers.Bus, error) {
	cfg := peers.Default()
	cfg.Address = func(node string) (string, bool) {
		t := c.member.Table()
		if t == nil {
			return "", false
		}
		n, ok := t.Node(node)
		return n.Address, ok
	}
	cfg.Open = func(addr string) (peers.Publisher, error) {
		there := PeerConfig(c.p.Config, addr)
		there.Log = c.p.Log
		return rabbit.OpenPublisher(there)
	}
	cfg.Log, cfg.Metrics = c.p.Log, c.p.Registry
	return peers.New(own, cfg)
}

// owners answers the host splitter and the DUE from the newest table.
type owners struct{ router ring.Router }

// View implements hostsplitter.Owners. A message waits while there is no table, or none of its nodes is left.
func (o owners) View() (hostsplitter.View, error) {
	v, err := o.router.View()
	if err != nil {
		return nil, &bus.RetryError{After: ringRetry, Err: err, Expected: true}
	}
	return ownersView{v}, nil
}

// ownersView has messages wait for an owner, however often they have been tried: all nodes may be gone for a while.
type ownersView struct{ ring.View }

// Owner implements hostsplitter.View.
func (v ownersView) Owner(ctx context.Context, u weburl.URL) (string, error) {
	name, err := v.View.Owner(ctx, u)
	if errors.Is(err, ring.ErrEmpty) {
		err = &bus.RetryError{After: ringRetry, Err: err, Expected: true}
	}
	return name, err
}

func (c *cluster) owners() hostsplitter.Owners {
	return owners{ring.Router{Self: c.p.Config.Node, Current: c.member.Table, Addresses: c.addresses()}}
}

// ringNodes is how many nodes the newest table has: a job's rate and bandwidth are divided by them.
func (c *cluster) ringNodes() int {
	if t := c.member.Table(); t != nil {
		return len(t.Nodes())
	}
	return 1
}

// byAddress reports whether the ring places hosts by their addresses.
func (c *cluster) byAddress() bool {
	return c.member != nil && c.p.Config.Ring.Partition == ring.ByIP.String()
}

// addresses finds the addresses of hosts for a ring that places them by these; nil: it does not.
func (c *cluster) addresses() ring.Addresses {
	if c.book == nil {
		return nil
	}
	return c.book.Find
}

// openBook opens the addresses of hosts.
func (c *cluster) openBook(context.Context) error {
	if c.byAddress() {
		c.book = newAddressBook(c.postgres.Addresses(), c.resolver, c.wakeFrontier)
	}
	return nil
}

// wakeFrontier tells the frontier that is at work that the ring answers otherwise.
func (c *cluster) wakeFrontier() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leading != nil {
		c.leading.Wake()
	}
}

// token is what this program's writes carry. A member's place must be certain; an observer writes by the table it has.
func (c *cluster) token() (ring.Token, error) {
	if c.plays(Frontier) {
		if k, ok := c.member.Token(); ok {
			return k, nil
		}
	} else if t := c.member.Table(); t != nil {
		if k, ok := t.Token(c.p.Config.Node); ok {
			return k, nil
		}
	}
	return ring.Token{}, fmt.Errorf("node %s: %w", c.p.Config.Node, ring.ErrFenced)
}

// alive is this node's registration as a fetcher sees it.
func (c *cluster) alive() (incarnation uint64, ok bool) {
	if c.plays(Frontier) {
		return c.member.Incarnation(), !c.member.Fenced()
	}
	return c.member.Alive(c.p.Config.Node)
}

// fenced makes a fetcher's requests end with the node's registration.
func (c *cluster) fenced(h pipeline.Handler[*crawl.Fetch]) pipeline.Handler[*crawl.Fetch] {
	c.tenure = newTenure(h, c.alive)
	return c.tenure
}

// followRing runs the membership, and what goes by it, until ctx is done.
func (c *cluster) followRing(ctx context.Context) error {
	if c.tenure != nil {
		changed, stop := c.member.Watch()
		defer stop()
		go c.tenure.run(ctx, changed)
	}
	defer c.p.Track("ring")()
	return c.member.Run(ctx)
}

// enterRing waits until the node is a member of the ring, and returns what its frontier may do.
func (c *cluster) enterRing(ctx context.Context) (*handover.Ownership, error) {
	c.p.Log.Info("waiting for this node's place in the ring", "node", c.p.Config.Node, "ring", c.p.Config.Ring.Name)
	cfg := handover.Config{Node: c.p.Config.Node, Patience: patience(c.p.Config), Quiet: c.leasesQuiet, Log: c.p.Log}
	if c.book != nil {
		cfg.Addresses, cfg.Recall = c.book.Find, c.book.Recall
	}
	t, err := handover.Begin(ctx, cfg,
		handover.Deps{Member: c.member, Members: c.postgres.Members(), Ledger: c.postgres.URLs(),
			Following: c.postgres.Following(), Visits: c.postgres.Revisits()})
	if errors.Is(err, ring.ErrFenced) {
		err = fmt.Errorf("%w; was the ring made anew? then stop all nodes and run `whirlpool ring forget --cluster`", err)
	}
	if err != nil {
		return nil, again(fmt.Errorf("the ring: %w", err))
	}
	return t, nil
}

// leasesQuiet reports whether the broker holds no lease and no outcome.
func (c *cluster) leasesQuiet(ctx context.Context) bool {
	return c.quiet(ctx, crawl.TopicFetch, crawl.TopicOutcome)
}

// patience is how long the links of a page may be on their way after a node was lost. Those that are not lost take a
// second or two, and more behind a long queue; a page that is fetched again for nothing does no harm.
func patience(cfg *process.Config) time.Duration { return 2 * cfg.ZooKeeper.SessionTimeout.D() }
