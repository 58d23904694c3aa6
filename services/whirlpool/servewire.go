package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/engine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/studio"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// served is what `whirlpool serve` runs, joined.
type served struct {
	flags    *serveFlags
	log      *slog.Logger
	store    *sqlite.Store
	engine   *engine.Engine
	plugins  *repo.Repository
	dry      *dryPlugins
	manager  *workflow.Manager
	explorer *explore.Explorer
	api      *api.Server
}

// wire opens the stores and joins the parts. Nothing runs yet.
func (f *serveFlags) wire(ctx context.Context, log *slog.Logger, levels *slog.LevelVar, ring *explore.Ring,
	at net.Addr) (s *served, err error) {
	s = &served{flags: f, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.store, err = sqlite.Open(filepath.Join(f.dir, "control.db")); err != nil { //nolint:contextcheck // it is short
		return s, err
	}
	opt, err := f.engineOptions(f.dir, log)
	if err != nil {
		return s, err
	}
	if err = s.openPlugins(); err != nil {
		return s, err
	}
	opt.Plugins, opt.DryPlugins = s.plugins, s.dry
	if s.engine, err = engine.Open(ctx, opt); err != nil {
		return s, f.sayInUse(err)
	}
	check, err := f.checker(s.plugins) //nolint:contextcheck // definitions are checked by later requests
	if err != nil {
		return s, err
	}
	pin := func(job *crawl.Job) error { return s.pin(context.Background(), job) } //nolint:contextcheck // of later requests
	s.manager = workflow.NewManager(s.store, s.engine, f.managed(workflow.Options{Check: check, Pin: pin, Log: log,
		Quota: api.Quotas{Vault: s.store}.Of}, at))
	s.explorer = explore.Open(explore.Options{Dir: filepath.Join(f.dir, "search"), Source: s.source, Log: log, Ring: ring})
	s.engine.SetLogIndex(s.explorer)
	settings := f.tunables(s, levels)
	if err := settings.Refresh(ctx); err != nil {
		return s, err
	}
	if err := s.manager.NoteRevisions(ctx, s.engine.Job, s.engine.Store().Jobs().JobAt); err != nil {
		return s, err
	}
	all := &crawls{s: s, dir: f.dir, check: check, began: time.Now()}
	s.api, err = api.New(ctx, api.Deps{Workflows: s.manager, Schedules: s.manager, Alerts: s.manager, Explore: s.explorer,
		Crawls: all, DryRuns: dryRuns{s, f}, Previews: previews{all}, Plugins: servePlugins{s}, Vault: s.store,
		Audit: s.store, Settings: settings, Usage: s.manager.Usage, Studio: studio.Handler(), Log: log, Access: f.access(at)})
	return s, err
}

// managed adds what the flags say of workflows: how many run at once, and how alerts are sent.
func (f *serveFlags) managed(opt workflow.Options, at net.Addr) workflow.Options {
	sender := &notify.Sender{AllowPrivate: f.allowPrivate, Source: f.access(at).URL}
	opt.MaxRunning, opt.Notify = f.maxRunning, sender.Send
	opt.DiskUsed = func() (float64, error) { return process.DiskUsed(f.dir) }
	return opt
}

// pin writes into a job which bytes the plug-ins are that it names.
func (s *served) pin(ctx context.Context, job *crawl.Job) error {
	return repo.Pin(ctx, s.plugins, &job.Pipeline)
}

// source is where the explorer reads an execution.
func (s *served) source(ctx context.Context, id crawl.JobID) (*explore.Source, error) {
	if _, err := s.manager.Execution(ctx, id); err != nil {
		if errors.Is(err, workflow.ErrNotFound) {
			err = explore.ErrNotFound
		}
		return nil, err
	}
	job, err := s.engine.Store().Jobs().Job(ctx, id)
	if err != nil { // it was not submitted yet, or is trimmed
		if job, err = s.store.Job(ctx, id); err != nil {
			return nil, err
		}
	}
	return &explore.Source{ID: id, Dir: s.engine.JobDir(id), Job: job, Live: s.engine.Live(),
		Bodies: s.engine.Store().JobBodies(id)}, nil
}

// close closes the stores.
func (s *served) close() (err error) {
	if s.engine != nil {
		err = s.engine.Close()
	}
	if s.plugins != nil {
		err = errors.Join(err, s.plugins.Close())
	}
	if s.dry != nil && s.dry.all != nil {
		err = errors.Join(err, s.dry.all.Close())
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}

// sayInUse names the flag of serve where the store names that of a crawl.
func (f *serveFlags) sayInUse(err error) error {
	if !errors.Is(err, local.ErrInUse) {
		return err
	}
	return fmt.Errorf("the directory %s is %w, such as another `whirlpool serve`: stop that, or name another directory "+
		"with --dir", f.dir, local.ErrInUse)
}

// openPlugins opens the repository of plug-ins, for crawls and for dry runs.
func (s *served) openPlugins() (err error) {
	if s.plugins, err = s.flags.open(); err != nil {
		return err
	}
	s.dry, err = s.flags.openDry(s.plugins)
	return err
}
