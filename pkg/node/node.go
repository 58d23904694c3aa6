// Package node joins the stages of a whole node over one bus and runs them.
//
// It knows every stage but no technology: the bus and the stores come in as interfaces ([Stores]). [OpenLocal] makes those of a
// single machine. Nothing here or in a stage asks which they are.
package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/fetch"
	"github.com/whirlpool-crawler/whirlpool/pkg/filter"
	"github.com/whirlpool-crawler/whirlpool/pkg/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/parse"
	"github.com/whirlpool-crawler/whirlpool/pkg/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/seen"
	"github.com/whirlpool-crawler/whirlpool/pkg/split"
	"github.com/whirlpool-crawler/whirlpool/pkg/stage"
)

// Bus is a bus that knows when it is empty.
type Bus interface {
	bus.Bus
	// Outstanding returns how many messages are not wholly handled, their descendants included.
	Outstanding() int64
}

// Stores are all stores that the stages of a node work on.
type Stores struct {
	URLs     crawl.URLSet
	Ledger   crawl.Ledger
	Budgets  crawl.Budgets
	Content  crawl.ContentSet
	Hosts    crawl.Hosts
	Robots   crawl.RobotsStore
	Queues   crawl.Queues
	Pages    crawl.Pages
	Attempts crawl.AttemptLog
	Bodies   crawl.Bodies
	Archive  crawl.Archive // nil: no WARC files
}

// Config says how a node runs.
type Config struct {
	Frontier frontier.Config
	Fetch    fetch.Config
	// CPU bounds the workers of stages that compute (parser, URL filter), Store those of stages that wait for stores.
	CPU, Store bus.Workers
	// Drain is how long a stop waits for what is in flight.
	Drain time.Duration
}

// Default returns the configuration of one machine.
func Default() Config {
	return Config{Frontier: frontier.Default(), Fetch: fetch.Default(), CPU: bus.Workers{Min: 1, Max: 8},
		Store: bus.Workers{Min: 2, Max: 64}, Drain: 30 * time.Second}
}

// Node is a node with all its stages.
type Node struct {
	cfg      Config
	bus      Bus
	frontier *frontier.Frontier
	fetcher  *fetch.Handler
	metrics  *stage.Metrics
	stages   []func(context.Context) error
	log      *slog.Logger
}

// Deps are what a node is made of.
type Deps struct {
	Bus      Bus
	Stores   Stores
	Jobs     crawl.Jobs
	Resolver fetch.Resolver
	Log      *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
}

// New makes the stages of a node.
func New(cfg Config, d Deps) (*Node, error) {
	var metrics *stage.Metrics
	if d.Registry != nil {
		metrics = stage.NewMetrics(d.Registry)
	}
	rules, err := robotscache.New(d.Stores.Robots, robotscache.Default())
	if err != nil {
		return nil, err
	}
	f, err := frontier.New(cfg.Frontier, frontier.Deps{Queues: d.Stores.Queues, Ledger: d.Stores.Ledger,
		Hosts: d.Stores.Hosts, Jobs: d.Jobs, Attempts: d.Stores.Attempts, Bus: d.Bus, Resolver: d.Resolver, Log: d.Log})
	if err != nil {
		return nil, err
	}
	fetcher, err := fetch.New(cfg.Fetch, fetch.Deps{Jobs: d.Jobs, Robots: rules, Bodies: d.Stores.Bodies,
		Archive: d.Stores.Archive, DNS: d.Resolver, Metrics: d.Registry})
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, bus: d.Bus, frontier: f, fetcher: fetcher, metrics: metrics, log: d.Log}
	s := d.Stores
	fetches := bus.Workers{Min: 1, Max: cfg.Frontier.Window}
	add(n, d, "fetcher", crawl.TopicFetch, fetches, fetcher)
	add(n, d, "parser", crawl.TopicParse, cfg.CPU, parse.NewHandler(d.Jobs, s.Bodies, d.Log))
	add(n, d, "contentseen", crawl.TopicContentSeen, cfg.Store, seen.New(seen.Stores{Jobs: d.Jobs, Content: s.Content,
		Pages: s.Pages, Bodies: s.Bodies}, d.Log))
	add(n, d, "urlfilter", crawl.TopicURLFilter, cfg.CPU, filter.New(d.Jobs, known{rules}))
	add(n, d, "hostsplitter", crawl.TopicHostSplit, cfg.CPU, split.New(split.OneNode{}))
	add(n, d, "due", crawl.TopicDUE, cfg.Store, due.New(due.Deps{URLs: s.URLs, Ledger: s.Ledger, Budgets: s.Budgets,
		Attempts: s.Attempts, Jobs: d.Jobs}))
	add(n, d, "frontier.in", crawl.TopicFrontierIn, cfg.Store, f.In())
	add(n, d, "frontier.outcome", crawl.TopicOutcome, cfg.Store, f.Outcomes())
	return n, nil
}

func add[In crawl.Event](n *Node, d Deps, name, topic string, w bus.Workers, h stage.Handler[In]) {
	cfg := stage.Config{Name: name, Topic: topic, Workers: w, Log: d.Log, Metrics: n.metrics}
	n.stages = append(n.stages, func(ctx context.Context) error { return stage.Run(ctx, d.Bus, cfg, h) })
}

// Frontier returns the node's frontier.
func (n *Node) Frontier() *frontier.Frontier { return n.frontier }

// Recover rebuilds the frontier's memory. Call it before Run.
func (n *Node) Recover(ctx context.Context, resumed bool) error {
	return n.frontier.Recover(ctx, resumed)
}

// Run runs the node until ctx is done, and then stops it in order: the frontier leases nothing more, what is in flight
// is finished within the drain time, the stages end. What is not finished then is repeated by the next run.
func (n *Node) Run(ctx context.Context) error {
	stages, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, stages := errgroup.WithContext(stages)
	for _, run := range n.stages {
		g.Go(func() error { return run(stages) })
	}
	g.Go(func() error {
		defer stop()
		if err := n.frontier.Run(ctx); err != nil {
			return fmt.Errorf("frontier: %w", err)
		}
		n.drain(stages)
		return nil
	})
	err := g.Wait()
	n.fetcher.Close()
	return err
}

// drain waits until the bus is empty, at most the drain time.
func (n *Node) drain(ctx context.Context) {
	deadline := time.NewTimer(n.cfg.Drain)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for n.bus.Outstanding() > 0 {
		select {
		case <-deadline.C:
			n.log.Warn("stopped before everything in flight was finished; it is repeated when the crawl goes on",
				"outstanding", n.bus.Outstanding(), "waited", n.cfg.Drain)
			return
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// Finished reports whether the job has ended: nothing is queued and nothing under way, or its page budget is spent. Between
// two looks a task may become a message and a message a task; but not without a lease, so the leases are counted before
// and after.
func (n *Node) Finished(job crawl.JobID) bool {
	before := n.frontier.Stats()
	if n.bus.Outstanding() > 0 {
		return false
	}
	s := n.frontier.Stats()
	ended := s.InFlight == 0 && (s.Queued == 0 || n.frontier.Exhausted(job))
	return ended && s.Leases == before.Leases && n.bus.Outstanding() == 0
}
