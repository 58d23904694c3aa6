package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

// Load makes a plug-in of a program whose files lie in dir. Nothing is started before it is configured.
func Load(d *plugin.Descriptor, dir string, log *slog.Logger) (plugin.Plugin, error) {
	file := filepath.Join(dir, filepath.FromSlash(d.Entry))
	if info, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("its program: %w", err)
	} else if info.IsDir() {
		return nil, fmt.Errorf("its program %s is a directory", d.Entry)
	}
	return &program{d: d, dir: dir, file: file, limits: abi.LimitsOf(d, plugin.Limits{}), log: log}, nil
}

// program is a plugin.Plugin.
type program struct {
	d         *plugin.Descriptor
	dir, file string
	limits    plugin.Limits
	log       *slog.Logger
}

// Descriptor implements plugin.Plugin.
func (p *program) Descriptor() *plugin.Descriptor { return p.d }

// Close implements plugin.Plugin.
func (p *program) Close() error { return nil }

// Configure implements plugin.Plugin: it starts the first child and gives it its settings.
func (p *program) Configure(ctx context.Context, at crawl.Point, with map[string]any) (plugin.Instance, error) {
	serves, ok := p.d.ServesAt(at)
	if !ok {
		return nil, &plugin.ConfigError{Text: p.d.Use() + " does not serve the point " + string(at)}
	}
	frame, err := abi.AppendConfigure(nil, at, with)
	if err != nil {
		return nil, &plugin.ConfigError{Text: err.Error()}
	}
	i := &instance{p: p, at: at, serves: serves, settings: frame}
	c, err := i.fresh(ctx)
	if err != nil {
		return nil, err
	}
	i.put(c)
	return i, nil
}

// instance is a program with settings: a pool of children, each of which handles one call at a time.
type instance struct {
	p        *program
	at       crawl.Point
	serves   plugin.Serves
	settings []byte

	mu       sync.Mutex
	idle     []*child
	closed   bool
	failures int       // children in a row that could not be started, or were killed
	restart  time.Time // none is started before
}

// How long nothing is started after a child had to be killed: doubled with each in a row. startTime is until a fresh
// child has its settings.
const (
	firstPause   = 10 * time.Millisecond
	shortPause   = time.Second // is waited for
	longestPause = 10 * time.Second
	startTime    = 20 * time.Second
)

// Handle implements plugin.Instance.
func (i *instance) Handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
	a, _, err := i.handle(ctx, call)
	return a, err
}

// HandleStrict implements plugin.Strict.
func (i *instance) HandleStrict(ctx context.Context, call *plugin.Call) (*plugin.Answer, []string, error) {
	a, data, err := i.handle(ctx, call)
	if err != nil {
		return nil, nil, err
	}
	return a, abi.Unknown(i.at, data), nil
}

func (i *instance) handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, []byte, error) {
	frame, err := abi.AppendCall(nil, &i.serves, call)
	if err != nil {
		return nil, nil, err
	}
	limit := time.Hour
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	c := i.take()
	if c == nil { // the time of its start is not the call's
		if c, err = i.fresh(ctx); err != nil {
			return nil, nil, err
		}
	}
	data, err := c.ask(ctx, frame, limit, call.CPU)
	if err != nil {
		c.kill()
		i.failed()
		return nil, nil, err
	}
	a, err := abi.ReadAnswerTo(call.ID, call.Message, data)
	if errors.Is(err, plugin.ErrOrder) { // the answer to this call is yet to come, and would be the next one's
		c.kill()
		i.failed()
		return nil, nil, err
	}
	i.put(c)
	return a, data, err
}

// fresh starts a child and gives it its settings. A context that ends by its deadline does not end the start.
func (i *instance) fresh(ctx context.Context) (*child, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})()
	if err := i.rest(own); err != nil {
		return nil, err
	}
	c, err := i.p.start()
	if err == nil {
		var data []byte
		if data, err = c.ask(own, i.settings, startTime, 0); err == nil {
			err = abi.ReadConfigured(data)
		}
		if err != nil {
			c.kill()
		}
	}
	if bad := (*plugin.ConfigError)(nil); err != nil && !errors.As(err, &bad) {
		i.failed()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// rest waits until a program that failed may be started again: the pages of other calls are not to blame. Where that is
// long, it fails often, and calls fail at once.
func (i *instance) rest(ctx context.Context) error {
	i.mu.Lock()
	wait := time.Until(i.restart)
	i.mu.Unlock()
	if wait > shortPause {
		return fmt.Errorf("%w: it is started again in %s", plugin.ErrEnded, wait.Round(time.Millisecond))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (i *instance) failed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.restart = time.Now().Add(min(firstPause<<min(i.failures, 20), longestPause))
	i.failures++
}

func (i *instance) take() *child {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n := len(i.idle); n > 0; n = len(i.idle) {
		c := i.idle[n-1]
		i.idle = i.idle[:n-1]
		if !c.over() {
			return c
		}
		c.kill() // it ended by itself meanwhile
	}
	return nil
}

func (i *instance) put(c *child) {
	i.mu.Lock()
	closed := i.closed
	if !closed {
		i.idle, i.failures = append(i.idle, c), 0
	}
	i.mu.Unlock()
	if closed {
		c.kill()
	}
}

// Close implements plugin.Instance: it ends the children.
func (i *instance) Close() error {
	i.mu.Lock()
	idle := i.idle
	i.idle, i.closed = nil, true
	i.mu.Unlock()
	for _, c := range idle {
		if log := i.p.log; log != nil && c.spoke() {
			log.Warn("a plug-in wrote more answers than it had calls: the last of them may be those of other calls",
				"plugin", i.p.d.Use())
		}
		c.kill()
	}
	return nil
}

// command is the program with its arguments.
func (p *program) command() []string {
	return append([]string{p.file}, p.d.Args...)
}

// oneLine is a text for a message, on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
