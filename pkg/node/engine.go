package node

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/browser"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// EngineOptions say how an engine runs.
type EngineOptions struct {
	Dir        string // of the store: state of all jobs
	Executions string // a directory for each job lies below it: pages.jsonl, crawl.log, bodies, warc
	Node       Config
	DNS        dnscache.Config
	Store      local.Options
	Bus        membus.Config
	// WARC says of which jobs WARC files are written; nil: of none.
	WARC func(*crawl.Job) bool
	// Tap is told of the lines of crawl.log when they are written; nil: none. It must not block.
	Tap     func([]crawl.LogLine)
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	// Plugins is where the plug-ins of jobs come from; nil: those that come with the program.
	Plugins plugin.Source
	// DryPlugins is where those of dry runs come from: also ones that nobody vouches for; nil: as Plugins.
	DryPlugins plugin.Source
	// PrivateOutputs lets outputs of jobs reach addresses that are not public. In a directory they always may.
	PrivateOutputs bool
	// Browser says which browser renders pages, and how.
	Browser browser.Config
}

// Engine crawls many jobs at once on one machine: one store, one bus, one frontier. So politeness holds over all of
// them, and each has an end, records, log and bounds of its own.
//
// What ran when the process ended, or was killed, goes on when the next Engine runs; what was stopped or held is so
// still.
type Engine struct {
	*Node
	opt      EngineOptions
	store    *local.Store
	bus      *membus.Bus
	archives *archives // nil: no WARC files are written
	letters  *letters
	opener   *documents.Pool
	plugins  *chain.Runner
	browser  *lazyBrowser
	brake    brake
	capacity *Capacity // of an engine of many
	disk     process.DiskGuard
	started  time.Time
	dry      chan struct{} // has room for the dry runs that may be under way
	log      *slog.Logger
	// change adapts the stores of the node; ended is told of jobs that have ended, instead of the notes of an engine of
	// many. Both are for a Local.
	change func(*Deps)
	ended  func(crawl.JobID)

	mu      sync.Mutex
	jobs    map[crawl.JobID]*engineJob
	running context.Context //nolint:containedctx // what jobs run in that are submitted later; nil: Run was not called
	beside  sync.WaitGroup  // of the jobs' goroutines
}

// diskLimit is the part of the disk at which a crawl pauses (as Zeno and Browsertrix do).
const diskLimit = 0.90

// longestFetch is how long a fetch of any job may take in an engine of many, whose limits come later.
const longestFetch = time.Hour

// DefaultEngine returns the options of `whirlpool serve` without flags.
func DefaultEngine(dir, executions string, log *slog.Logger) EngineOptions {
	opt := EngineOptions{Dir: dir, Executions: executions, Node: Default(), DNS: dnscache.Default(),
		Store: local.Default(), Bus: membus.Default(), Log: log}
	opt.Store.Logger, opt.Bus.Log = log, log
	return opt
}

// OpenEngine opens the store and prepares the jobs that it holds. They go on when Run is called.
func OpenEngine(ctx context.Context, opt EngineOptions) (_ *Engine, err error) {
	if opt.Executions == "" {
		return nil, errors.New("engine: it needs a directory for the results of jobs")
	}
	e, err := newEngine(opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	e.capacity = e.opt.Node.Adjust()
	limits := maps.Clone(e.opt.Node.Limits)
	limits[Fetcher] = max(limits[Fetcher], longestFetch)
	e.opt.Node.Limits = limits
	if err := e.loadJobs(ctx); err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, len(e.jobs) > 0); err != nil {
		return nil, err
	}
	e.holdJobs()
	return e, e.loadHosts(ctx)
}

// Capacity is how many messages the stages handle at once.
func (e *Engine) Capacity() *Capacity { return e.capacity }

// newEngine opens the store.
func newEngine(opt EngineOptions) (*Engine, error) {
	opt.Store.Executions = opt.Executions
	store, err := local.Open(opt.Dir, opt.Store)
	if err != nil {
		return nil, err
	}
	e := &Engine{opt: opt, store: store, opener: newOpener(opt.Log), log: opt.Log, jobs: map[crawl.JobID]*engineJob{},
		dry: make(chan struct{}, maxDryRuns)}
	e.browser = newLazyBrowser(opt.Browser, opt.Log)
	e.plugins = newPlugins(opt.Plugins, opt.Log, opt.Metrics, e.holdFor)
	paths := []string{opt.Dir}
	if opt.Executions != "" {
		paths = append(paths, opt.Executions)
	}
	e.disk = process.DiskGuard{Paths: paths, Limit: diskLimit, Log: opt.Log, Registry: opt.Metrics,
		Pause: func(full bool) { e.hold(&e.brake.disk, full) }}
	return e, nil
}

// prepare takes back what was under way, and makes the node.
func (e *Engine) prepare(ctx context.Context, resumed bool) (err error) {
	if err := e.store.TakeBack(ctx); err != nil {
		return err
	}
	if e.letters, err = openLetters(ctx, e.store.DeadLetters()); err != nil {
		return err
	}
	if e.opt.WARC != nil {
		e.archives = &archives{store: e.store, log: e.opt.Log}
	}
	e.opt.Bus.Journal, e.opt.Bus.Dead = e.store.Journal(), e.letters
	e.bus = membus.New(e.opt.Bus)
	deps, err := e.deps()
	if err != nil {
		return err
	}
	if e.Node, err = New(e.opt.Node, deps); err != nil {
		return err
	}
	return e.Recover(ctx, resumed)
}

// deps wires the local adapters.
func (e *Engine) deps() (Deps, error) {
	s := e.store
	d := Deps{Bus: e.bus, Outstanding: e.outstanding, Unfinished: e.unfinished, Quiet: e.quiet, Held: s.AwaitsSpace,
		Jobs: s.Jobs(), Log: e.opt.Log, Registry: e.opt.Metrics, Opener: e.opener, Plugins: e.plugins, Browser: e.browser,
		Rendering: e.goesOn, RenderQueue: localRenders{e.browser.Missing, func() int { return e.bus.Held(crawl.TopicRender) },
			renderRoom()},
		Stores: Stores{Redirects: s.Redirects(), URLs: s.URLs(), Ledger: s.URLs(), Budgets: s.Budgets(),
			Content: s.ContentSet(), Hosts: s.Hosts(), Robots: s.Hosts(), Queues: s.Queues(), Pages: s.AllPages(),
			Unkept: s.Unkept(), Attempts: s.AllLogs(), Bodies: s.Bodies(), Kept: s.AllBodies(), Jars: s.Jars(), OwnJars: true,
			Spending: s.Spending(), Revisits: s.Revisits(), Resources: s.Resources(), Renders: s.RenderStats(),
			Trials: s.Trials()},
		Pictures: pictures{s.JobDir}}
	if s.Many() {
		d.Stores.Attempts = tappedLog{d.Stores.Attempts, e.tap}
	}
	if e.archives != nil {
		d.Stores.Archive, d.Stores.Archived = e.archives, e.opt.WARC
	}
	if e.change != nil {
		e.change(&d)
	}
	resolver, err := dnscache.New(e.opt.DNS, e.opt.Metrics)
	if err != nil {
		return d, err
	}
	d.Resolver = resolver
	return d, nil
}

// tappedLog tells of the lines that were written.
type tappedLog struct {
	crawl.AttemptLog
	tell func([]crawl.LogLine)
}

// countBytes counts what the attempts of jobs brought.
func (e *Engine) countBytes(lines []crawl.LogLine) {
	for i := range lines {
		if l := &lines[i]; l.Bytes > 0 && l.Kind != crawl.KindRender { // what a browser made was not sent
			if j := e.job(l.Job); j != nil {
				j.bytes.Add(l.Bytes)
			}
		}
	}
}

// tap passes lines of crawl.log to EngineOptions.Tap.
func (e *Engine) tap(lines []crawl.LogLine) {
	e.countBytes(lines)
	e.countAnswers(lines)
	if e.opt.Tap != nil {
		e.opt.Tap(lines)
	}
}

// Bytes is what the attempts of a job brought since the process began.
func (e *Engine) Bytes(id crawl.JobID) int64 {
	if j := e.job(id); j != nil {
		return j.bytes.Load()
	}
	return 0
}

// Append implements crawl.AttemptLog.
func (t tappedLog) Append(ctx context.Context, lines ...crawl.LogLine) error {
	err := t.AttemptLog.Append(ctx, lines...)
	if err == nil {
		t.tell(lines)
	}
	return err
}

// outstanding is how many messages are not wholly handled. Over a store that broke, none will be: they are not waited
// for.
func (e *Engine) outstanding() int64 {
	if e.store.Err() != nil {
		return 0
	}
	return e.bus.Outstanding()
}

// unfinished is how many messages are to be waited for before the process ends: pages that wait to be rendered go on
// when the crawl does.
func (e *Engine) unfinished() int64 {
	return max(e.outstanding()-int64(e.bus.Held(crawl.TopicRender)), 0)
}

// goesOn reports whether a job fetches, so that what its pages ask for may come, and whether it was stopped.
func (e *Engine) goesOn(id crawl.JobID) (fetches, stopped bool) {
	j := e.job(id)
	if j == nil {
		return false, true
	}
	m, bound := j.marked(), e.frontier.Bound(id)
	return bound == "" || bound == "max_pages", m.Stopped || m.Ended
}

// quiet reports whether nothing of a job is on its way that could name another URL.
func (e *Engine) quiet(id crawl.JobID) bool {
	if e.bus.OutstandingOf(id) != 0 {
		return false
	}
	j := e.job(id)
	return j == nil || !j.reading()
}

// Run crawls until ctx is done, or the store can no longer be written. Then it leases nothing more and finishes what is
// in flight, within the drain time.
func (e *Engine) Run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	if _, err := e.bus.Recover(running); err != nil {
		return err
	}
	if err := e.startJobs(running); err != nil {
		return err
	}
	e.beside.Go(func() {
		select {
		case <-e.store.Broken():
			stop()
		case <-running.Done():
		}
	})
	e.beside.Go(func() { e.disk.Run(running) })
	e.beside.Go(func() { e.followRecords(running) })
	err := e.Node.Run(running)
	stop()
	e.endJobs()
	if broken := e.store.Err(); broken != nil { // it is why everything else failed
		return broken
	}
	e.deliverLast(ctx)
	return err
}

// startJobs starts the jobs that are there, and lets those that come later start. Those of an engine of many start
// while its stages run: their seeds may be more than the bus holds.
//
//nolint:contextcheck // a job runs in the context of the engine, whoever asked for it
func (e *Engine) startJobs(running context.Context) error {
	e.mu.Lock()
	e.running, e.started = running, time.Now()
	e.mu.Unlock()
	all := e.everyJob()
	if e.store.Many() {
		e.beside.Go(func() { e.startEach(running, all) })
		return nil
	}
	for _, j := range all {
		if err := e.start(j); err != nil {
			e.endJobs()
			return err
		}
	}
	return nil
}

// startEach starts jobs. One that cannot go on does not keep the others.
//
//nolint:contextcheck // a job runs in the context of the engine, whoever asked for it
func (e *Engine) startEach(running context.Context, all []*engineJob) {
	for _, j := range all {
		j.turn.Lock()
		err := e.start(j)
		j.turn.Unlock()
		if err != nil && running.Err() == nil {
			e.log.Error("a job cannot continue; the others do", "job", j.id, "error", err)
			j.setFault(err)
		}
	}
}

// endJobs waits until nothing of the jobs runs.
func (e *Engine) endJobs() {
	e.mu.Lock()
	e.running = nil
	e.mu.Unlock()
	for _, j := range e.everyJob() {
		j.halt()
	}
	e.beside.Wait()
}

// Close closes the stores. Call it when Run has returned. A call that changes a job or discards it is waited for; one
// that comes later fails.
func (e *Engine) Close() error {
	var errs []error
	if e.bus != nil {
		errs = append(errs, e.bus.Close())
	}
	for _, j := range e.everyJob() {
		j.turn.Lock()
		errs = append(errs, e.settle(j))
		j.turn.Unlock()
	}
	return errors.Join(append(errs, e.archives.close(), e.opener.Close(), e.plugins.Close(), e.browser.Close(),
		e.store.Close())...)
}

// Store returns the store, for readers.
func (e *Engine) Store() *local.Store { return e.store }
