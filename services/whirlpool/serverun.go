package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// shutTime is how long answers under way have when the server ends.
const shutTime = 5 * time.Second

// run serves until a signal ends it.
func (f *serveFlags) run(cmd *cobra.Command, level slog.Level) (err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	l, err := f.listener()
	if err != nil {
		return err
	}
	defer l.Close()
	levels := new(slog.LevelVar)
	levels.Set(level)
	ring := explore.NewRing()
	log := slog.New(ring.Handler(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: levels}),
		slog.LevelInfo))
	process.StandardLog(log.Handler())
	ctx, cancel := signals(cmd.Context(), func() {
		cmd.PrintErrln("stopping: what is in flight ends, at most 30 s; executions resume at the next start. Once more: at " +
			"once, which loses nothing")
	}, func() { _ = os.Remove(filepath.Join(f.dir, runningFile)) })
	defer cancel()
	s, err := f.wire(ctx, log, levels, ring, l.Addr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := f.announce(ctx, cmd.OutOrStdout(), s.api); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(f.dir, runningFile))
	return s.serve(ctx, l)
}

// announce writes down where the server is, and tells it.
func (f *serveFlags) announce(ctx context.Context, w io.Writer, a *api.Server) error {
	data, err := json.Marshal(f.here(&a.Access, a.LocalKey()))
	if err == nil {
		err = writePrivate(filepath.Join(f.dir, runningFile), data)
	}
	var link, readOnly string
	if err == nil {
		link, err = a.Login(ctx, api.Admin)
	}
	if err == nil && f.readOnly && !f.noAuth {
		readOnly, err = a.Login(ctx, api.Viewer)
	}
	if err != nil {
		return err
	}
	if f.noAuth {
		fmt.Fprintf(w, "whirlpool %s: studio on %s/   (nobody signs in: whoever uses this machine can do everything)\n",
			crawl.Version, a.Access.URL)
	} else {
		fmt.Fprintf(w, "whirlpool %s: studio on %s   (once, within 15 minutes; then `whirlpool login-url`)\n", crawl.Version,
			link)
	}
	if readOnly != "" {
		fmt.Fprintf(w, "read only: %s\n", readOnly)
	}
	_, err = fmt.Fprintf(w, "data in %s (control.db, crawl/, executions/, search/)\n", f.dir)
	return err
}

// here is how commands on this machine reach the server. They ask it itself: a name of its own may lead to a proxy that
// lets in nobody but browsers, or to nowhere from here. With TLS of its own it has that name alone.
func (f *serveFlags) here(a *api.Access, key string) server {
	s := server{URL: a.URL, Key: key}
	if f.cert == "" && len(a.Hosts) > 0 {
		s.URL, s.Studio = "http://"+a.Hosts[0], a.URL
	}
	return s
}

// serve runs all parts until ctx is done. A part that fails ends the others.
func (s *served) serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	srv := httpServer(s.api)
	done := make(chan error)
	parts := []func() error{
		func() error { return s.engine.Run(ctx) },
		func() error { return s.manager.Run(ctx) },
		func() error { return s.explorer.Run(ctx) },
		func() error { return s.follow(ctx) },
		func() error {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		func() error {
			<-ctx.Done()
			within, stop := context.WithTimeout(context.WithoutCancel(ctx), shutTime)
			defer stop()
			if err := srv.Shutdown(within); err != nil {
				return srv.Close()
			}
			return nil
		},
	}
	for _, part := range parts {
		go func() { done <- part() }()
	}
	var failed error
	for range parts {
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			failed = errors.Join(failed, err)
			cancel(err)
		}
	}
	return failed
}
