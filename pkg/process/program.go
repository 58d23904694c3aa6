package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Program is what a body works with.
type Program struct {
	Name     string
	Config   *Config
	Log      *slog.Logger
	Registry *prometheus.Registry
	Lines    *LogQueue // of the log, for who stores them elsewhere; nil: nobody is to

	health *health
	level  *slog.LevelVar // of the log

	mu      sync.Mutex
	running map[string]int // components, by name
}

// Body is what a program does until ctx is done.
type Body func(ctx context.Context, p *Program) error

// Errors of a stop that was not orderly.
var (
	ErrForced = errors.New("stopped at once by a second signal")
	ErrLate   = errors.New("the stop took too long")
)

// signalError is why the context of a body ended.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return e.signal.String() }

// Execute runs body as the program name until it returns, with everything of the package's comment but flags and
// configuration. Logs go to w. It logs and returns the body's error, ErrLate, or ErrForced. After the latter two the
// body is still running, and the process should exit.
func Execute(ctx context.Context, name string, cfg *Config, w io.Writer, body Body) error {
	var lines *LogQueue
	if cfg.Log.Collect {
		lines = newLogQueue()
	}
	level := &slog.LevelVar{}
	log, limiter, err := newLogger(w, cfg.Log, name, cfg.Node, lines, level)
	if err != nil {
		return err
	}
	defer limiter.Close()
	if w == io.Writer(os.Stderr) { // the process is this program
		StandardLog(log.Handler())
	}
	p := &Program{Name: name, Config: cfg, Log: log, Lines: lines, Registry: newRegistry(name, cfg.Node),
		health: newHealth(), level: level, running: map[string]int{}}
	log.Info("starting", "version", crawl.Version, "pid", os.Getpid(), "heap_limit", tuneMemory(cgroupMemory),
		"heap_floor", len(floor))
	if err = p.serve(ctx, body); err != nil {
		log.Error("the program failed", "error", err)
	}
	return err
}

// serve runs the body between the opening of the listeners and their end.
func (p *Program) serve(ctx context.Context, body Body) (err error) {
	signals, stopSignals := StopSignals()
	defer stopSignals()
	servers, err := serve(ctx, p)
	if err != nil {
		return err
	}
	defer servers.close()
	return p.run(ctx, signals, body)
}

// run runs the body and ends it when a signal comes.
func (p *Program) run(ctx context.Context, signals <-chan os.Signal, body Body) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() { ended <- p.guarded(ctx, body) }()
	select {
	case err := <-ended:
		return err
	case s := <-signals:
		stop(signalError{s})
	case <-ctx.Done():
	}
	return p.stop(context.Cause(ctx), signals, ended)
}

// stop waits for the body, whose context has ended, to finish what is in hand.
func (p *Program) stop(cause error, signals <-chan os.Signal, ended <-chan error) error {
	p.health.enter(errStopping)
	limit, began := p.Config.Shutdown.Timeout.D(), time.Now()
	p.Log.Info("stopping: the messages being handled are finished first", "because", cause.Error(), "within", limit)
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case err := <-ended:
		if err == nil || isStop(err, cause) {
			p.Log.Info("stopped", "took", time.Since(began))
			return nil
		}
		return err
	case <-signals:
		return fmt.Errorf("%w; still running: %s", ErrForced, p.stillRunning())
	case <-late.C:
		p.Log.Error("goroutines still running: the program did not stop in time", "goroutines", goroutines())
		return fmt.Errorf("%w (shutdown.timeout %v); still running: %s", ErrLate, limit, p.stillRunning())
	}
}

// isStop reports whether err says only that the context was ended. Joined with another failure, it is that failure.
func isStop(err, cause error) bool {
	if err == context.Canceled || err == cause { //nolint:errorlint // the tree is walked here
		return true
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		return e.Unwrap() != nil && isStop(e.Unwrap(), cause)
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !isStop(err, cause) })
	}
	return false
}

// goroutines returns the stacks of all goroutines, equal ones once, cut at 64 KiB.
func goroutines() string {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	return string(b.Bytes()[:min(b.Len(), 64<<10)])
}

// guarded runs the body; a panic becomes an error, with its stack in the log.
func (p *Program) guarded(ctx context.Context, body Body) (err error) {
	defer p.Track("main")()
	defer func() {
		if v := recover(); v != nil {
			p.Log.Error("the program panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return body(ctx, p)
}

// Track notes that a component runs, until done is called: a stop that takes too long says which ones it waited for.
func (p *Program) Track(component string) (done func()) {
	p.count(component, 1)
	return sync.OnceFunc(func() { p.count(component, -1) })
}

func (p *Program) count(component string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[component] += n; p.running[component] == 0 {
		delete(p.running, component)
	}
}

// stillRunning names the components that run.
func (p *Program) stillRunning() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(p.running)), ", ")
}

// Supervise is Supervise under the program's log; the component is tracked.
func (p *Program) Supervise(ctx context.Context, name string, component func(ctx context.Context) error,
	rebuild ...error) error {
	defer p.Track(name)()
	return Supervise(ctx, p.Log, name, component, rebuild...)
}
