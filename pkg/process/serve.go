package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Times of our own servers: their callers are probes and people on the same network.
const (
	headerTime = 5 * time.Second
	idleTime   = time.Minute
)

// servers are the listeners of a program.
type servers struct {
	log *slog.Logger
	all []*http.Server
	wg  sync.WaitGroup
}

// serve opens the listeners of a program. A port for profiles that is taken costs the profiles, any other the program.
func serve(ctx context.Context, p *Program) (*servers, error) {
	s := &servers{log: p.Log}
	if err := s.open(ctx, "health", p.Config.HTTP.Listen, p.mux()); err != nil {
		return nil, fmt.Errorf("http.listen: %w: choose another address there or by %s", err, envOf("http.listen"))
	}
	if p.Config.Pprof.Listen != "" {
		if err := s.open(ctx, "profiles", p.Config.Pprof.Listen, profiles()); err != nil {
			p.Log.Warn("profiles are not served: cannot listen at pprof.listen", "error", err)
		}
	}
	return s, nil
}

func (s *servers) open(ctx context.Context, what, address string, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	s.all = append(s.all, srv)
	s.log.Info("listening", "serves", what, "address", l.Addr().String())
	s.wg.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("a listener of the program failed", "serves", what, "error", err)
		}
	})
	return nil
}

// close ends the servers at once; who still asks gets no answer.
func (s *servers) close() {
	for _, srv := range s.all {
		_ = srv.Close()
	}
	s.wg.Wait()
}

func (p *Program) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", live)
	mux.HandleFunc("GET /readyz", p.health.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.Registry, promhttp.HandlerOpts{Registry: p.Registry,
		ErrorLog: slog.NewLogLogger(p.Log.Handler(), slog.LevelError)}))
	return mux
}

func profiles() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
