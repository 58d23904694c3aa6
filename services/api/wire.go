package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/clusterengine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlpg"
	"github.com/whirlpool-crawler/whirlpool/pkg/studio"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// served is what the program runs, joined.
type served struct {
	p        *process.Program
	log      *slog.Logger
	store    *controlpg.Store
	engine   *clusterengine.Engine
	manager  *workflow.Manager
	explorer *explore.Explorer
	settings *api.Tunables
	copies   *copies
	api      *api.Server
	running  context.Context //nolint:containedctx // of the program: what is copied outlives the request that asked for it
}

// run serves until ctx is done.
func run(ctx context.Context, p *process.Program) (err error) {
	lines := explore.NewRing()
	s := &served{p: p, log: slog.New(lines.Handler(p.Log.Handler(), slog.LevelInfo)), running: ctx}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // stopped while it waited
		}
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.Config.API.Listen)
	if err != nil {
		return err
	}
	if err := s.wire(ctx, lines, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.serve(ctx, l)
}

// open waits for the services.
func (s *served) open(ctx context.Context) error {
	cfg := s.p.Config
	err := s.p.Await(ctx, "control store", func(ctx context.Context) (err error) {
		s.store, err = controlpg.Open(ctx,
			controlpg.Config{URL: cfg.Postgres.Address().Reveal(), Name: "api", MaxConns: cfg.Postgres.Connections, Log: s.log})
		return err
	})
	if err != nil {
		return err
	}
	var c *cluster.Cluster
	if err := s.p.Await(ctx, "cluster",
		func(ctx context.Context) (err error) { c, err = openCluster(ctx, cfg, s.log); return err }); err != nil {
		return err
	}
	c.Lately = &report.Pipelines{}
	s.engine = clusterengine.New(c, cfg.API.Dir, s.log)
	s.p.Check("control store", s.store.Ping)
	s.p.Check("postgres", c.Postgres.Ping)
	s.p.Check("mongodb", c.Mongo.Ping)
	return nil
}

// openCluster fails where the page store does not answer, too: this program reads it all the time.
func openCluster(ctx context.Context, cfg *process.Config, log *slog.Logger) (*cluster.Cluster, error) {
	c, err := cluster.Open(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err := c.Mongo.Ping(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// wire joins the parts. Nothing runs yet.
func (s *served) wire(ctx context.Context, lines *explore.Ring, at net.Addr) (err error) {
	cfg := s.p.Config
	for _, cache := range []string{"executions", "search"} {
		if err := os.RemoveAll(filepath.Join(cfg.API.Dir, cache)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(cfg.API.Dir, "search"), 0o700); err != nil {
		return err
	}
	sender := &notify.Sender{AllowPrivate: cfg.Fetch.AllowPrivate, Source: cfg.API.URL}
	s.manager = workflow.NewManager(s.store, s.engine,
		workflow.Options{MaxRunning: cfg.API.MaxRunning, Check: s.check, Pin: s.pin, Log: s.log,
			Quota: api.Quotas{Vault: s.store}.Of, Notify: sender.Send, DiskUsed: func() (float64,
				error) {
				return process.DiskUsed(cfg.API.Dir)
			}})
	s.explorer = explore.Open(explore.Options{Dir: filepath.Join(cfg.API.Dir, "search"), Source: s.source, Log: s.log,
		Ring: lines, Beside: true})
	s.settings = s.tunables()
	s.copies = newCopies(s)
	if err := s.settings.Refresh(ctx); err != nil {
		return err
	}
	s.api, err = api.New(ctx, api.Deps{Workflows: s.manager, Schedules: s.manager, Alerts: s.manager, Explore: s.explorer,
		Crawls: &crawls{s: s}, Previews: previews{s: s}, DryRuns: dryRuns{s, make(chan struct{}, maxDryRuns)},
		Plugins: plugins{s},
		Vault:   s.store, Audit: s.store, OIDC: issuerOf(&cfg.OIDC), Copies: s.copies.alive, Settings: s.settings,
		Usage: s.manager.Usage, Studio: studio.Handler(), Log: s.log, Access: accessOf(&cfg.API, at)})
	if err == nil && cfg.API.AdminKey != "" {
		s.api.AdmitKey(cfg.API.AdminKey.Reveal())
	}
	return err
}

// issuerOf is who signs people in; nil: links alone do.
func issuerOf(c *process.OIDC) *api.OIDC {
	if c.Issuer == "" {
		return nil
	}
	role, _ := api.RoleOf(c.DefaultRole) // none is none
	return &api.OIDC{Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: c.ClientSecret.Reveal(), DefaultRole: role,
		GroupsClaim: c.GroupsClaim, Scopes: c.Scopes, Groups: api.RolesOf(c.Roles)}
}

// accessOf says who may reach the API, and under which names.
func accessOf(c *process.API, at net.Addr) api.Access {
	u, _ := url.Parse(c.URL)                     // it was validated
	_, port, _ := net.SplitHostPort(at.String()) // it is one
	a := api.Access{URL: strings.TrimRight(c.URL, "/"), Secure: u.Scheme == "https", Version: crawl.Version,
		Hosts: []string{strings.ToLower(u.Host), "127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}}
	for _, name := range c.Hosts {
		a.Hosts = append(a.Hosts, strings.ToLower(name))
	}
	return a
}

// source is where the explorer reads an execution.
func (s *served) source(ctx context.Context, id crawl.JobID) (*explore.Source, error) {
	if _, err := s.manager.Execution(ctx, id); err != nil {
		if errors.Is(err, workflow.ErrNotFound) {
			err = explore.ErrNotFound
		}
		return nil, err
	}
	return s.engine.Source(ctx, s.running, id, s.store.Job)
}

// shutTime is how long answers under way have when the program ends.
const shutTime = 5 * time.Second

// serve runs all parts until ctx is done. A part that fails ends the others.
func (s *served) serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s.api, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	g, ctx := errgroup.WithContext(ctx)
	part := func(name string, run func(context.Context) error) {
		g.Go(func() error {
			defer s.p.Track(name)()
			if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	part("conductor", func(ctx context.Context) error { return s.store.Lead(ctx, s.conduct) })
	part("explorer", s.explorer.Run)
	part("follower", s.follow)
	part("settings", s.settings.Run)
	part("copies", s.copies.run)
	part("http", func(context.Context) error { return srv.Serve(l) })
	part("shut", func(ctx context.Context) error {
		<-ctx.Done()
		within, stop := context.WithTimeout(context.WithoutCancel(ctx), shutTime)
		defer stop()
		if srv.Shutdown(within) != nil {
			return srv.Close()
		}
		return nil
	})
	s.log.Info("API and studio", "address", l.Addr().String(), "url", s.api.Access.URL)
	s.p.Ready()
	return g.Wait()
}

// conduct drives all executions as long as this program holds the lock.
func (s *served) conduct(ctx context.Context) error {
	if err := s.manager.NoteRevisions(ctx, s.engine.Job, s.engine.Postgres.Jobs().JobAt); err != nil && ctx.Err() == nil {
		return err
	}
	return s.manager.Run(ctx)
}

func (s *served) close() (err error) {
	if s.engine != nil {
		err = s.engine.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return err
}
