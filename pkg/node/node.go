// Package node joins the stages of a node over one bus and runs them: all of them, or those of one program ([Role]).
//
// A stage knows no technology: it gets the bus and the stores as interfaces ([Stores]). [OpenLocal] opens those of a
// single machine, [RunCluster] those of a cluster.
package node

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/renderer"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// Stores are the stores that the stages work on. A role needs some of them only.
type Stores struct {
	URLs     crawl.URLSet
	Ledger   crawl.Ledger
	Budgets  crawl.Budgets
	Content  crawl.ContentSet
	Hosts    crawl.Hosts
	Robots   crawl.RobotsStore
	Queues   crawl.Queues
	Pages    crawl.Pages
	Unkept   crawl.Unkept
	Texts    crawl.PageTexts // nil: records are searched themselves
	Attempts crawl.AttemptLog
	Bodies   crawl.Bodies
	Archive  crawl.Archive // nil: no WARC files
	// Archived says whose exchanges go to Archive; nil: those of all jobs.
	Archived func(*crawl.Job) bool
	// Kept keeps the bodies of the jobs that ask for it; nil: none are kept.
	Kept crawl.KeptBodies
	// Redirects is where loops of redirects are found.
	Redirects crawl.Redirects
	// Jars are the cookies of jobs; nil: none are kept. OwnJars: no other process changes them.
	Jars    crawl.Jars
	OwnJars bool
	// Places is which pages keep their places in the page budget; nil: Pages forgets the records of pages that are
	// taken back.
	Places crawl.Places
	// Spending is what jobs spend of their bounds.
	Spending crawl.Spending
	// Following is used on a ring of nodes; nil: the links of pages are not tracked.
	Following crawl.Following
	// Revisits is what is remembered of pages between their visits; nil: no job visits pages again.
	Revisits crawl.Revisits
	// Resources are what renders need, and Renders what is known of them, by template; nil: nothing is rendered.
	Resources crawl.Resources
	Renders   crawl.RenderStats
	// Trials are the hosts that topical jobs judge; nil: none are judged.
	Trials crawl.HostTrials
}

// Config says how a node runs.
type Config struct {
	Frontier frontier.Config
	Fetch    fetcher.Config
	Workers  map[Role]bus.Workers
	Limits   map[Role]time.Duration // how long a handler may take for one message; none: for ever
	// Drain is how long a stop waits for what is in flight, where the bus would forget it.
	Drain time.Duration
}

// Default returns the configuration of one machine: workers and limits are those of the pipeline's table.
func Default() Config {
	c := Config{Frontier: frontier.Default(), Fetch: fetcher.Default(), Drain: 30 * time.Second,
		Workers: map[Role]bus.Workers{}, Limits: map[Role]time.Duration{}}
	for _, s := range crawl.Stages() {
		c.Workers[Role(s.Name)] = bus.Workers{Min: s.Workers.Min, Max: s.Workers.Max}
		c.Limits[Role(s.Name)] = s.Limit
	}
	c.SetWindow(c.Frontier.Window)
	return c
}

// SetWindow sets how many fetches are under way at once.
func (c *Config) SetWindow(n int) {
	c.Frontier.Window = n
	c.Workers[Fetcher] = bus.Workers{Min: 1, Max: n}
}

// Node is a node, or the part of it that plays some roles.
type Node struct {
	cfg      Config
	deps     Deps
	frontier *frontier.Frontier // nil: another program's
	fetcher  *fetcher.Handler   // nil: another program's
	judge    *urlfilter.Judge   // of revisions; the frontier's
	rules    *robotscache.Cache // nil: no stage asked for it
	metrics  *pipeline.Metrics
	stages   []func(context.Context) error
	log      *slog.Logger
}

// Deps are what a node is made of.
type Deps struct {
	Bus      bus.Bus
	Stores   Stores
	Jobs     crawl.Jobs
	Resolver fetcher.Resolver
	Log      *slog.Logger
	Registry prometheus.Registerer // nil: no metrics
	Metrics  *pipeline.Metrics     // of the stages; nil: those of Registry
	// Outstanding returns how many messages are not wholly handled, their descendants included; nil where the bus keeps
	// them when the program ends, so that no wait is needed.
	Outstanding func() int64
	// Unfinished is how many of those a stop waits for; nil: all.
	Unfinished func() int64
	// Quiet reports whether nothing of a job is on its way, and no seed of it is still to come; nil: unknown. The
	// frontier needs it to crawl level by level.
	Quiet func(crawl.JobID) bool
	// Held reports whether the handlers wait for something that people have to mend: see pipeline.Config. nil: never.
	Held func() bool
	// Owners and Ring say whose URLs are; nil: all are this node's. Fetching may replace the fetcher by one that asks
	// the ring; nil: it does not. Nodes is over how many nodes a job's rate and bandwidth are divided; nil: one.
	Owners hostsplitter.Owners
	// Splits and Patience let the host splitter leave out URLs of other nodes that are claimed: hostsplitter.Recent. Nil:
	// it sends all.
	Splits   hostsplitter.Splits
	Patience time.Duration
	Ring     frontier.Ring
	Nodes    func() int
	Fetching func(pipeline.Handler[*crawl.Fetch]) pipeline.Handler[*crawl.Fetch]
	// SiteParsers read pages besides the site rules of jobs; nil: none.
	SiteParsers []crawl.SiteParser
	// Opener opens documents that are no pages; nil: they have no text.
	Opener crawl.Opener
	// Plugins runs the plug-ins of jobs; nil: jobs have none.
	Plugins *chain.Runner
	// Browser renders pages, and RenderQueue is the way to who does; nil: pages stay as they are fetched. Rendering
	// is renderer.Deps.Goes; nil: jobs go on until a bound of theirs is met.
	Browser     render.Browser
	Pictures    renderer.Pictures // keeps screenshots; nil: none are kept
	RenderQueue contentseen.RenderQueue
	Rendering   func(crawl.JobID) (fetches, stopped bool)
	// BeforeRecover is waited for before the frontier's queues are read; nil: nothing.
	BeforeRecover func(ctx context.Context) error
	// BeforeLease is waited for when the handlers run, before the frontier leases anything; nil: nothing.
	BeforeLease func(ctx context.Context) error
}

// New makes the stages of the roles; of all, where none is named.
func New(cfg Config, d Deps, roles ...Role) (*Node, error) {
	if len(roles) == 0 {
		roles = Roles()
	}
	n := &Node{cfg: cfg, deps: d, metrics: d.Metrics, log: d.Log}
	if n.metrics == nil && d.Registry != nil {
		n.metrics = pipeline.NewMetrics(d.Registry)
	}
	for _, r := range roles {
		if err := n.add(r); err != nil {
			return nil, fmt.Errorf("%s: %w", r, err)
		}
	}
	return n, nil
}

// Frontier returns the node's frontier.
func (n *Node) Frontier() *frontier.Frontier { return n.frontier }

// Load returns how many messages the stages have in hand, and how many they have handled; 0 without metrics.
func (n *Node) Load() (busy, handled int64) {
	if n.metrics == nil {
		return 0, 0
	}
	return n.metrics.Load()
}

// Recover rebuilds the frontier's memory. Call it before Run.
func (n *Node) Recover(ctx context.Context, resumed bool) error {
	if wait := n.deps.BeforeRecover; wait != nil {
		if err := wait(ctx); err != nil {
			return fmt.Errorf("frontier: before its queues are read: %w", err)
		}
	}
	return n.frontier.Recover(ctx, resumed)
}

// Run runs the node until ctx is done, and then stops it in order: the frontier leases nothing more, what is in flight
// is finished within the drain time, the stages end. What is not finished then is repeated by the next run.
func (n *Node) Run(ctx context.Context) error {
	stages, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, stages := errgroup.WithContext(stages)
	for _, s := range n.stages {
		g.Go(func() error { return s(stages) })
	}
	g.Go(func() error {
		defer stop()
		if err := n.dispatch(ctx); err != nil {
			return err
		}
		n.drain(stages)
		return nil
	})
	err := g.Wait()
	if n.fetcher != nil {
		n.fetcher.Close()
	}
	return err
}

// dispatch runs the frontier, where it is this node's, until ctx is done.
func (n *Node) dispatch(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			n.log.Error("the frontier panicked: this node stops, and loses nothing; please report it", "panic", p,
				"stack", string(debug.Stack()))
			err = fmt.Errorf("the frontier panicked: %v; the log has the stack: please report it; the same command resumes the crawl", p)
		}
	}()
	if n.frontier == nil {
		<-ctx.Done()
		return nil
	}
	if n.deps.BeforeLease != nil {
		if err := n.deps.BeforeLease(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("frontier: before the first lease: %w", err)
		}
		// A predecessor that was killed may have had an outcome stored when its pages were counted already.
		if err := n.frontier.Recount(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if err := n.frontier.Run(ctx); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// drain waits until the bus is empty, at most the drain time.
func (n *Node) drain(ctx context.Context) {
	left := n.deps.Unfinished
	if left == nil {
		left = n.deps.Outstanding
	}
	if left == nil {
		return
	}
	deadline := time.NewTimer(n.cfg.Drain)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for left() > 0 {
		select {
		case <-deadline.C:
			n.log.Warn("stopped before everything in flight was finished; it is repeated when the crawl is resumed",
				"outstanding", left(), "waited", n.cfg.Drain)
			return
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// Finished reports whether the job has ended, on a node that plays all roles over a bus that counts: nothing is queued
// and nothing under way, or its page budget is spent. Between two looks a task may become a message and a message a
// task; but not without a lease, so the leases are counted before and after.
func (n *Node) Finished(job crawl.JobID) bool {
	before := n.frontier.Stats()
	if n.deps.Outstanding() > 0 {
		return false
	}
	s := n.frontier.Stats()
	ended := s.InFlight == 0 && (s.Queued == s.Shut || n.frontier.Exhausted(job))
	return ended && s.Leases == before.Leases && n.deps.Outstanding() == 0
}
