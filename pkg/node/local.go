package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
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
}

// Local is a crawl on one machine: a node over the in-process bus and the local store.
type Local struct {
	*Node
	Store   *local.Store
	Job     *crawl.Job
	Resumed bool           // the directory held a crawl before
	Changes []crawl.Change // what this run changes of the job that the directory holds
	sweeper *sweeper
	revised chan struct{} // has one when a sweep may be due
	bus     *membus.Bus
	archive *warc.Writer
	brake   brake
	disk    process.DiskGuard
}

// DefaultLocal returns the options of `whirlpool crawl` without flags.
func DefaultLocal(dir string, job *crawl.Job, log *slog.Logger) LocalOptions {
	opt := LocalOptions{Dir: dir, Job: job, Node: Default(), DNS: dnscache.Default(), Store: local.Default(),
		Bus: membus.Default(), Log: log}
	opt.Store.Logger, opt.Bus.Log = log, log
	return opt
}

// diskLimit is the part of the disk at which a crawl pauses (as Zeno and Browsertrix do).
const diskLimit = 0.90

// OpenLocal opens the directory and prepares the crawl that it holds, or a new one.
func OpenLocal(ctx context.Context, opt LocalOptions) (_ *Local, err error) {
	if err := opt.Job.Validate(); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	store, err := local.Open(opt.Dir, opt.Store)
	if err != nil {
		return nil, err
	}
	l := &Local{Store: store, revised: make(chan struct{}, 1)}
	l.disk = process.DiskGuard{Paths: []string{opt.Dir}, Limit: diskLimit, Log: opt.Log, Registry: opt.Metrics,
		Pause: func(full bool) { l.hold(&l.brake.disk, full) }}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := l.remember(ctx, opt.Dir, opt.Job); err != nil {
		return nil, err
	}
	if err := store.TakeBack(ctx); err != nil {
		return nil, err
	}
	if opt.WARC {
		w := warc.Options{Log: opt.Log, Info: []warc.Field{{Name: "http-header-user-agent", Value: opt.Job.Agent()}}}
		if l.archive, err = warc.Open(filepath.Join(opt.Dir, "warc"), w); err != nil {
			return nil, err
		}
	}
	opt.Bus.Journal, opt.Bus.Dead = store.Journal(), store.DeadLetters()
	l.bus = membus.New(opt.Bus)
	deps, err := l.deps(opt)
	if err != nil {
		return nil, err
	}
	if limits := opt.Node.Limits; limits[Fetcher] > 0 { // a fetch that its job permits is not stuck
		limits = maps.Clone(limits)
		limits[Fetcher] = max(limits[Fetcher], 2*opt.Job.Limits.Total.D())
		opt.Node.Limits = limits
	}
	if l.Node, err = New(opt.Node, deps); err != nil {
		return nil, err
	}
	l.sweeper = &sweeper{jobs: store.Jobs(), left: store.URLs(), look: store.URLs(), bus: l.bus, judge: l.judge, log: opt.Log}
	return l, l.Recover(ctx, l.Resumed)
}

// deps wires the local adapters.
func (l *Local) deps(opt LocalOptions) (Deps, error) {
	s := l.Store
	d := Deps{Bus: l.bus, Outstanding: l.outstanding, Held: s.AwaitsSpace, Jobs: s.Jobs(), Log: opt.Log,
		Registry: opt.Metrics,
		Stores: Stores{Redirects: s.Redirects(), URLs: s.URLs(), Ledger: s.URLs(), Budgets: s.Budgets(), Content: s.ContentSet(), Hosts: s.Hosts(),
			Robots: s.Hosts(), Queues: s.Queues(), Pages: s.Pages(), Unkept: s.Unkept(), Attempts: s.AttemptLog(),
			Bodies: s.Bodies(), Jars: s.Jars(), OwnJars: true, Spending: s.Spending()}}
	opt.Tap.on(&d.Stores)
	if opt.NoRecords {
		d.Stores.Pages = unstored{opt.Job.ID, s.Unkept()}
	}
	if l.archive != nil {
		d.Stores.Archive = l.archive
	}
	resolver, err := dnscache.New(opt.DNS, opt.Metrics)
	if err != nil {
		return d, err
	}
	d.Resolver = resolver
	return d, nil
}

// outstanding is how many messages are not wholly handled. Over a store that broke, none will be: nobody is to wait for
// them.
func (l *Local) outstanding() int64 {
	if l.Store.Err() != nil {
		return 0
	}
	return l.bus.Outstanding()
}

// Crawl seeds the job and runs it until it has ended or ctx is done. It reports whether the job has ended.
func (l *Local) Crawl(ctx context.Context) (finished bool, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	if _, err := l.bus.Recover(running); err != nil {
		return false, err
	}
	if _, err := Seed(running, l.bus, l.Store.URLs(), l.Store.Hosts(), l.Job); err != nil {
		return false, err
	}
	l.sweepSoon()
	go func() {
		select {
		case <-l.Store.Broken():
			stop()
		case <-running.Done():
		}
	}()
	ended := make(chan bool, 1)
	go func() {
		defer stop()
		ended <- l.watch(running)
	}()
	var guard sync.WaitGroup
	guard.Go(func() { l.disk.Run(running) })
	guard.Go(func() { l.sweep(running) })
	err = l.Run(running)
	stop()
	guard.Wait()
	finished = <-ended
	if broken := l.Store.Err(); broken != nil { // it is why everything else failed
		return false, broken
	}
	return finished, err
}

// Close closes the stores. Call it when Crawl has returned.
func (l *Local) Close() error {
	var errs []error
	if l.bus != nil {
		errs = append(errs, l.bus.Close())
	}
	if l.archive != nil {
		errs = append(errs, l.archive.Close())
	}
	return errors.Join(append(errs, l.Store.Close())...)
}
