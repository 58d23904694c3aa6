package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/browser"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// LocalOptions say how a crawl on one machine runs.
type LocalOptions struct {
	Dir   string // output directory
	Job   *crawl.Job
	Node  Config
	DNS   dnscache.Config
	Store local.Options
	Bus   membus.Config
	WARC  bool
	Tap   Tap
	// NoRecords says that the pages get no records.
	NoRecords bool
	Log       *slog.Logger
	Metrics   prometheus.Registerer // nil: none
	// Stdin is where a list of seeds comes from whose name is "-"; nil: there is none. BadSeed is told of the lines of a
	// list that are no seeds; nil: they are skipped silently.
	Stdin   io.Reader
	BadSeed func(line int, err error)
	// SiteParsers read pages besides the job's site rules; nil: none.
	SiteParsers []crawl.SiteParser
	// Plugins is as in EngineOptions.
	Plugins plugin.Source
	// Browser says which browser renders pages, and how.
	Browser browser.Config
}

// Local is the crawl of one job in a directory of its own: an engine whose store holds nothing else.
type Local struct {
	*Engine
	Store   *local.Store
	Job     *crawl.Job
	Resumed bool           // the directory held a crawl before
	Changes []crawl.Change // what this run changes of the job that the directory holds
	opt     LocalOptions
}

// DefaultLocal returns the options of `whirlpool crawl` without flags.
func DefaultLocal(dir string, job *crawl.Job, log *slog.Logger) LocalOptions {
	opt := LocalOptions{Dir: dir, Job: job, Node: Default(), DNS: dnscache.Default(), Store: local.Default(),
		Bus: membus.Default(), Log: log}
	opt.Store.Logger, opt.Bus.Log = log, log
	return opt
}

// OpenLocal opens the directory and prepares the crawl that it holds, or a new one.
func OpenLocal(ctx context.Context, opt LocalOptions) (_ *Local, err error) {
	if err := opt.Job.Validate(); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if opt.Job, err = completed(ctx, opt.Job); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if opt.NoRecords && opt.Job.Pipeline.Delivers() {
		return nil, errors.New("job: its pipeline has nodes at output, and no records are stored that they could write")
	}
	e, err := newEngine(opt.engine())
	if err != nil {
		return nil, err
	}
	l := &Local{Engine: e, Store: e.store, opt: opt}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := e.plugins.Prepare(ctx, opt.Job); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if err := l.checkEnds(ctx, opt.Job); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if err := l.remember(ctx, opt.Dir, opt.Job); err != nil {
		return nil, err
	}
	e.change = l.adapt
	j := e.enter(l.Job.ID)
	j.stdin, j.bad = opt.Stdin, opt.BadSeed
	if err := e.prepare(ctx, l.Resumed); err != nil {
		return nil, err
	}
	if opt.WARC {
		_, err = e.archives.of(ctx, l.Job.ID)
	}
	return l, err
}

// engine are the options of the engine.
func (o *LocalOptions) engine() EngineOptions {
	e := EngineOptions{Dir: o.Dir, Node: o.Node, DNS: o.DNS, Store: o.Store, Bus: o.Bus, Log: o.Log, Metrics: o.Metrics,
		Plugins: o.Plugins, Browser: o.Browser}
	if o.WARC {
		e.WARC = func(*crawl.Job) bool { return true }
	}
	if limits := e.Node.Limits; limits[Fetcher] > 0 { // a fetch that its job permits is not stuck
		e.Node.Limits = maps.Clone(limits)
		e.Node.Limits[Fetcher] = max(limits[Fetcher], 2*o.Job.Limits.Total.D())
	}
	return e
}

// adapt makes the node do what the options ask for.
func (l *Local) adapt(d *Deps) {
	d.SiteParsers = l.opt.SiteParsers
	l.opt.Tap.on(&d.Stores)
	if l.opt.NoRecords {
		d.Stores.Pages = unstored{l.opt.Job.ID, l.Store.Unkept()}
	}
}

// Crawl seeds the job and runs it until it has ended or ctx is done. It reports whether the job has ended.
func (l *Local) Crawl(ctx context.Context) (finished bool, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Bool
	l.ended = func(crawl.JobID) {
		done.Store(true)
		stop()
	}
	err = l.Run(running)
	return done.Load() && l.Store.Err() == nil, err
}

// Seeds returns how far the list of seeds was read by now, and what ended the reading but its end or the crawl's. ok is
// false where the job has no list.
func (l *Local) Seeds() (s SeedState, ok bool, err error) {
	for _, f := range l.job(l.Job.ID).feeds() {
		if f.from.node == "" {
			s, err = f.told()
			return s, true, err
		}
	}
	return s, false, nil
}

// Provided returns the same of the nodes of the job's pipeline that give seeds, in their order.
func (l *Local) Provided() (all []SeedState, err error) {
	for _, f := range l.job(l.Job.ID).feeds() {
		if f.from.node == "" {
			continue
		}
		s, fault := f.told()
		all, err = append(all, s), errors.Join(err, fault)
	}
	return all, err
}
