package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Cluster is nodes, what they share, and the web they crawl. It lives in a bubble of testing/synctest.
type Cluster struct {
	cfg     Config
	log     *slog.Logger
	jobs    crawl.StaticJobs
	web     *web
	watch   *watch
	ledger  *ledger
	records *records
	server  *memstore.Server

	members   *members
	following crawl.Following
	splits    crawl.Splits

	mu     sync.Mutex
	nodes  []*Node // in the order of their first start
	byName map[string]*Node
	errs   []error
}

// New returns a cluster whose nodes do not run yet.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, log: slog.New(slog.DiscardHandler), jobs: crawl.StaticJobs{jobID: cfg.job()},
		server: memstore.New(cfg.Timeout), byName: map[string]*Node{}}
	c.web = newWeb(&c.cfg)
	c.watch = newWatch(c.web.hosts(), cfg.Delay)
	c.ledger, c.records = newLedger(c.web), newRecords(c.web.hosts())
	c.members = &members{rows: map[string]floor{}}
	c.following, c.splits = newFollowing(cfg.Broken.NoFollow)
	return c, nil
}

// note keeps an error of a program.
func (c *Cluster) note(err error) {
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.errs = append(c.errs, err)
	}
}

func (c *Cluster) brokerOf(name string) *broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.byName[name]; n != nil {
		return n.broker
	}
	return nil
}

// Add starts a new node.
func (c *Cluster) Add() (*Node, error) {
	c.mu.Lock()
	n := &Node{Name: fmt.Sprintf("n%d", len(c.nodes)), cluster: c, broker: newBroker(&c.cfg), queues: newQueues(),
		way: c.server.Client()}
	n.bus = &nodeBus{cluster: c, broker: n.broker}
	c.nodes = append(c.nodes, n)
	c.byName[n.Name] = n
	c.mu.Unlock()
	return n, n.start()
}

// Start starts the nodes and gives them a settled ring, as it is after they have joined one by one.
func (c *Cluster) Start(ctx context.Context) error {
	for range c.cfg.Nodes {
		if _, err := c.Add(); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // they register
	s, err := c.server.Client().Open(ctx)
	if err != nil {
		return err
	}
	t, err := c.table(ctx, s)
	if err != nil {
		return err
	}
	if err := s.Write(ctx, t, member.View{}); err != nil {
		return fmt.Errorf("store the ring: %w", err)
	}
	return s.Close()
}

// table is a settled ring of the nodes that are registered.
func (c *Cluster) table(ctx context.Context, s member.Session) (*ring.Table, error) {
	t, err := ring.Create(min(c.cfg.Nodes*c.cfg.Vnodes, ring.MaxVnodes), ring.ByHost, c.cfg.Seed)
	for _, n := range c.nodes {
		if err != nil {
			return nil, err
		}
		reg, ok, err := s.Registration(ctx, n.Name)
		if err != nil || !ok {
			return nil, fmt.Errorf("node %s is not registered: %w", n.Name, err)
		}
		if t, err = t.Join(reg); err != nil {
			return nil, err
		}
	}
	return ring.Settle(t), err
}

// seedBatch is how many seeds a message has.
const seedBatch = 250

// Submit gives each node its part of the seeds, as a job of many is submitted.
func (c *Cluster) Submit(ctx context.Context) error {
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { c.note(c.submit(ctx, i, n)) })
	}
	wg.Wait()
	return nil
}

func (c *Cluster) submit(ctx context.Context, part int, n *Node) error {
	id := crawl.MessageID{}.Child("submit", part)
	var tasks []crawl.Task
	send := func(index int) error {
		if len(tasks) == 0 {
			return nil
		}
		e := &crawl.Filtered{Batch: crawl.Batch{Job: jobID, Tasks: tasks}}
		tasks = nil
		return n.bus.Publish(ctx, bus.Message{ID: id.Child("seeds", index), Event: e})
	}
	for h := range c.web.seeds() {
		if h%len(c.nodes) != part {
			continue
		}
		host := c.web.seed(h)
		tasks = append(tasks, crawl.Task{Job: jobID, URL: c.web.url(host, c.web.first[host]), Seed: true,
			Priority: crawl.DefaultPriority})
		if len(tasks) == seedBatch {
			if err := send(h); err != nil {
				return err
			}
		}
	}
	return send(c.web.seeds())
}

// Stop ends all programs.
func (c *Cluster) Stop() {
	for _, n := range c.nodes {
		n.cancel()
	}
	for _, n := range c.nodes {
		n.wg.Wait()
	}
}

// Nodes returns the nodes in the order of their first start.
func (c *Cluster) Nodes() []*Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*Node(nil), c.nodes...)
}
