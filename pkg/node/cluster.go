package node

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/browser"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/memcached"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/spool"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// RunCluster plays the roles, all of them where none is named, over the services that the program's configuration
// names, until ctx is done. It waits for services that are not there yet, and rebuilds the frontier when its queues are
// lost.
func RunCluster(ctx context.Context, p *process.Program, roles ...Role) error {
	return Cluster{}.Run(ctx, p, roles...)
}

// Cluster is RunCluster with parts replaced.
type Cluster struct {
	// Decorate may replace what stages are made of, before they are made: the tests' faults come in here. Nil: nothing
	// is replaced.
	Decorate func(d *Deps)
	// RingStore may replace where the ring is kept. Nil: nothing is replaced.
	RingStore func(member.Store) member.Store
	// Broker may replace the broker as a whole node's bus sees it. Nil: nothing is replaced.
	Broker func(direct.Broker) direct.Broker
	// Calendar is the time by which pages of continuous jobs are visited again; the zero one is that of clocks.
	Calendar revisit.Calendar
}

// Run is described at RunCluster.
func (r Cluster) Run(ctx context.Context, p *process.Program, roles ...Role) (err error) {
	switch len(roles) {
	case 0:
		roles = Roles()
	case 1:
		p.ShareCores()
	}
	c := &cluster{p: p, roles: roles, decorate: r.Decorate, ringStore: r.RingStore, broker: r.Broker, calendar: r.Calendar,
		opener: newOpener(p.Log)}
	c.kept = &keptLazily{open: c.connectMongo}
	c.closers = append(c.closers, c.opener.Close, c.kept.close)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.open(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // stopped while it waited
		}
		return err
	}
	defer c.shipLogs(ctx)()
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.newAgent(drain).run(ctx) })
	if rest := slices.DeleteFunc(slices.Clone(roles), func(r Role) bool { return r == Frontier }); len(rest) > 0 {
		n, err := c.node(c.deps(), rest...)
		if err != nil {
			return err
		}
		g.Go(func() error { return n.Run(ctx) })
	}
	if c.plays(Frontier) {
		g.Go(func() error { p.DiskGuard(c.diskFull).Run(ctx); return nil })
		g.Go(func() error { watchBroker(ctx, c.bus, p); return nil })
		g.Go(func() error { return p.Supervise(ctx, string(Frontier), c.runFrontier, rabbit.ErrLost) })
	} else {
		p.Ready()
	}
	if c.member != nil {
		g.Go(func() error { return c.followRing(ctx) })
	}
	if c.plays(Fetcher) {
		g.Go(func() error { c.spool.Sweeper().Run(ctx); return nil })
	}
	return g.Wait()
}

// cluster is what a program has open: what its roles need.
type cluster struct {
	p         *process.Program
	roles     []Role
	decorate  func(*Deps)                     // nil: leaves them alone
	ringStore func(member.Store) member.Store // nil: leaves it alone
	broker    func(direct.Broker) direct.Broker
	calendar  revisit.Calendar
	bus       *rabbit.Bus
	postgres  *postgres.Store
	mongo     *mongo.Store
	memcached *memcached.Client
	spool     *spool.Spool
	archive   *warc.Writer
	resolver  *dnscache.Cache
	metrics   *pipeline.Metrics
	capacity  *Capacity
	member    *member.Member // nil: a node on its own
	handing   *direct.Bus    // of a whole node: over bus; nil: the stages are joined by the broker
	wires     bus.Bus        // the node's bus, and those of the other nodes of the ring
	book      *addressBook   // of a ring that is partitioned by ip; nil: it is not
	opener    *documents.Pool
	plugins   *chain.Runner
	browser   *lazyBrowser
	kept      *keptLazily
	tenure    *tenure // of the fetcher; nil: none
	closers   []func() error

	mu      sync.Mutex
	leading *frontier.Frontier // nil: none is at work
	full    bool               // the disk
}

func (c *cluster) plays(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(c.roles, r) })
}

// open opens what the roles need, in the order of the needs.
func (c *cluster) open(ctx context.Context) error {
	c.metrics = pipeline.NewMetrics(c.p.Registry)
	standard := c.config()
	c.capacity = standard.Adjust()
	if err := c.openRing(); err != nil {
		return err
	}
	var placing []Role //nolint:prealloc // for two: what must know where hosts belong, besides those that need these stores anyway
	if c.byAddress() {
		placing = []Role{HostSplitter, DUE}
	}
	steps := []struct {
		open func(context.Context) error
		need []Role
	}{
		{c.openPostgres, append(needing(postgresService), placing...)},
		{c.openMongo, needing(mongoService)},
		{c.openMemcached, needing(memcachedService)},
		{c.openResolver, append(needing(resolverService), placing...)},
		{c.openBook, append(placing, Frontier)},
		{c.openSpool, needing(spoolService)},
		{c.openArchive, needing(archiveService)},
		{c.openPlugins, runsPlugins()},
		{c.openBrowser, []Role{Renderer}},
		{c.openBus, Roles()},
	}
	for _, s := range steps {
		if c.plays(s.need...) {
			if err := s.open(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// onClose notes what close does, the last first.
func (c *cluster) onClose(f func() error) { c.closers = append(c.closers, f) }

func (c *cluster) close() error {
	var errs []error
	for _, f := range slices.Backward(c.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

func (c *cluster) openPostgres(ctx context.Context) error {
	cfg := PostgresConfig(c.p.Config)
	cfg.Name, cfg.Log = c.p.Name, c.p.Log
	cfg.MaxConns = c.connections(cfg.MaxConns)
	if c.member != nil {
		cfg.Token = c.token
	}
	err := c.p.Await(ctx, "postgres", func(ctx context.Context) (err error) {
		c.postgres, err = postgres.Open(ctx, cfg)
		return err
	})
	if err != nil {
		return err
	}
	c.onClose(func() error { c.postgres.Close(); return nil })
	c.p.Check("postgres", c.postgres.Ping)
	return nil
}

// connections is how many to PostgreSQL a program has a use for, where it may have as many as most: those that only
// look up jobs, and rules of robots.txt that they remember, need few. By the defaults the eight programs of a node have
// 35 at most; the host splitter's only tells that it runs.
func (c *cluster) connections(most int) int {
	switch {
	case c.plays(Frontier, ContentSeen, DUE):
		return most
	case c.plays(Fetcher):
		return min(most, 4)
	}
	return min(most, 2)
}

func (c *cluster) connectMongo(ctx context.Context) (*mongo.Store, error) {
	cfg := MongoConfig(c.p.Config)
	cfg.Log = c.p.Log
	cfg.Life = c.postgres.Jobs().RecordLife // who needs records needs jobs
	return mongo.Open(ctx, cfg)
}

func (c *cluster) openMongo(ctx context.Context) error {
	err := c.p.Await(ctx, "mongodb", func(ctx context.Context) (err error) {
		c.mongo, err = c.connectMongo(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.onClose(c.mongo.Close)
	c.p.Check("mongodb", c.mongo.Ping)
	return nil
}

// openMemcached waits for nothing: without memcached everything is slower and nothing else.
func (c *cluster) openMemcached(context.Context) (err error) {
	addrs := c.p.Config.Memcached.Addresses
	if len(addrs) == 0 {
		return nil
	}
	cfg := memcached.Default()
	cfg.Addrs, cfg.Log, cfg.Metrics = addrs, c.p.Log, c.p.Registry
	if c.memcached, err = memcached.Open(cfg); err != nil {
		return err
	}
	c.onClose(func() error { c.memcached.Close(); return nil })
	return nil
}

func (c *cluster) openResolver(context.Context) (err error) {
	cfg := dnscache.Default()
	cfg.Server = c.p.Config.Fetch.DNS
	if c.memcached != nil {
		cfg.Over = c.memcached.Source
	}
	c.resolver, err = dnscache.New(cfg, c.p.Registry)
	return err
}

// openBrowser starts none yet: most jobs render nothing.
func (c *cluster) openBrowser(context.Context) error {
	in := &c.p.Config.Render
	c.browser = newLazyBrowser(browser.Config{Path: in.Browser, Tabs: in.Tabs}, c.p.Log)
	c.onClose(c.browser.Close)
	return nil
}

func (c *cluster) openSpool(context.Context) (err error) {
	cfg := spool.Default()
	cfg.Dir, cfg.Log = c.p.Config.Disk.Spool, c.p.Log
	cfg.MaxUsed = max(cfg.MaxUsed, c.p.Config.Disk.Limit)
	c.spool, err = spool.Open(cfg)
	return err
}

func (c *cluster) openArchive(context.Context) (err error) {
	if c.p.Config.Disk.WARC == "" {
		return nil
	}
	dir := filepath.Join(c.p.Config.Disk.WARC, c.p.Config.Node)
	if c.archive, err = warc.Open(dir, warc.Options{Log: c.p.Log}); err == nil {
		c.onClose(c.archive.Close)
	}
	return err
}

// node makes the stages of the roles.
func (c *cluster) node(d Deps, roles ...Role) (*Node, error) {
	if c.decorate != nil {
		c.decorate(&d)
	}
	return New(c.config(), d, roles...)
}

func (c *cluster) following() crawl.Following {
	if c.member != nil {
		return c.postgres.Following()
	}
	return c.postgres.Followed()
}

// deps wires the adapters that are open. The frontier's queues are not among them.
func (c *cluster) deps() Deps {
	d := Deps{Bus: c.wires, Log: c.p.Log, Registry: c.p.Registry, Metrics: c.metrics}
	if c.resolver != nil {
		d.Resolver = c.resolver
	}
	s := &d.Stores
	if db := c.postgres; db != nil {
		d.Jobs, s.Following = db.Jobs(), c.following()
		s.URLs, s.Ledger, s.Budgets, s.Content = db.URLs(), db.URLs(), db.Budgets(), db.ContentSet()
		s.Redirects, s.Places, s.Spending, s.Jars = db.Redirects(), db.Places(), db.Spending(), db.Jars()
		s.Hosts, s.Robots, s.Attempts, s.Unkept = db.Hosts(), db.Hosts(), db.AttemptLog(), db.Unkept()
		s.Resources, s.Renders, s.Trials, s.Texts = db.Resources(), db.RenderStats(), db.Trials(), db.Texts()
		s.Revisits = db.Revisits()
	}
	if c.mongo != nil {
		s.Pages = c.mongo.Pages()
	}
	if c.spool != nil {
		s.Bodies = c.spool
	}
	if dir := c.p.Config.Disk.WARC; dir != "" {
		d.Pictures = pictures{func(job crawl.JobID) string { return filepath.Join(dir, c.p.Config.Node, string(job)) }}
	}
	if c.archive != nil {
		s.Archive = c.archive
	}
	if c.plays(Parser) {
		d.Opener, s.Kept = c.opener, c.kept
	}
	d.Plugins = c.plugins
	if c.browser != nil {
		d.Browser = c.browser
	}
	if c.plays(ContentSeen) {
		d.RenderQueue = &brokerRenders{depths: c.bus.Depths, room: renderRoom()}
	}
	if c.member != nil {
		c.onRing(&d)
	}
	if c.memcached != nil {
		s.Robots = c.memcached.Robots(s.Robots)
		s.URLs = c.memcached.URLs(s.URLs, c.epochs())
	}
	return d
}

// onRing adds what a node of a ring has besides.
func (c *cluster) onRing(d *Deps) {
	d.Owners, d.Fetching, d.Nodes = c.owners(), c.fenced, c.ringNodes
	if c.postgres != nil {
		d.Splits, d.Patience = c.postgres.Following(), patience(c.p.Config)
	}
}

// epochs tells the lives of jobs apart for the cache of claimed URLs.
func (c *cluster) epochs() memcached.Epoch { return c.postgres.Jobs().Life }
