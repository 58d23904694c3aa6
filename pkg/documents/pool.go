package documents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Config says how documents are opened.
type Config struct {
	Workers int           // processes at once
	Renew   int           // documents that one process opens
	Idle    time.Duration // how long a process waits for the next document before it ends
	Program string        // what is run; empty: this program, which must call Main
	// Cache is a directory that keeps the compiled PDFium for later pools: it takes seconds to compile. Empty: a
	// temporary one, which goes with the pool.
	Cache string
	Log   *slog.Logger
}

// Default returns the defaults: two processes, fewer on a machine with one core.
func Default() Config {
	return Config{Workers: min(2, runtime.NumCPU()), Renew: 200, Idle: time.Minute, Log: slog.New(slog.DiscardHandler)}
}

// Pool opens documents in processes of their own. It implements crawl.Opener.
type Pool struct {
	cfg   Config
	slots chan struct{} // has room for the processes

	mu     sync.Mutex
	idle   []*worker // the one that was used last is the last
	cache  string    // temporary directory of the compiled PDFium; empty: none
	closed bool
}

var _ crawl.Opener = (*Pool)(nil)

// New returns a pool. It starts nothing before the first document.
func New(cfg Config) *Pool { return &Pool{cfg: cfg, slots: make(chan struct{}, max(cfg.Workers, 1))} }

// Opens implements crawl.Opener. A program that does not call Main opens none.
func (p *Pool) Opens(mediaType string) bool {
	return kinds[mediaType] != kindNone && (hooked.Load() || p.cfg.Program != "")
}

// Open implements crawl.Opener.
func (p *Pool) Open(ctx context.Context, r *crawl.OpenRequest) (*crawl.Opened, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	w, err := p.take()
	if err != nil {
		return nil, fmt.Errorf("open a document: %w", err)
	}
	got, died := w.open(ctx, r)
	if died != nil {
		w.kill()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		got = w.verdict(r, died)
		p.cfg.Log.Debug("a process that opened a document died", "reason", got.Reason, "detail", got.Detail)
		if w.served == 0 && w.failedAtOnce() {
			return nil, fmt.Errorf("open a document: %s", got.Detail)
		}
		return got, nil
	}
	if w.served++; w.served >= p.cfg.Renew || !p.giveBack(w) {
		w.kill()
	}
	return got, nil
}

// take returns a process that waits, or a new one.
func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errors.New("the crawl ends")
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		w.timer.Stop()
		p.mu.Unlock()
		return w, nil
	}
	cache := p.cacheDir()
	p.mu.Unlock()
	program := p.cfg.Program
	if program == "" {
		if !hooked.Load() {
			return nil, errors.New("this program does not call documents.Main (or whirlpool.Main) first in its main function")
		}
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return startWorker(program, cache)
}

// cacheDir returns the directory of the compiled PDFium, making it where there is none. mu is held.
func (p *Pool) cacheDir() string {
	if dir := p.cfg.Cache; dir != "" && os.MkdirAll(dir, 0o700) == nil && writable(dir) {
		return dir
	}
	if p.cache == "" {
		p.cache, _ = os.MkdirTemp("", "whirlpool-documents-") // without it each process compiles for itself
	}
	return p.cache
}

// giveBack keeps a process for the next document, and ends it where none comes.
func (p *Pool) giveBack(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	w.timer = time.AfterFunc(p.cfg.Idle, func() { p.retire(w) })
	p.idle = append(p.idle, w)
	return true
}

// retire ends a process that waited too long, unless it is at work again.
func (p *Pool) retire(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.idle {
		if p.idle[i] == w {
			p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
			w.kill()
			return
		}
	}
}

// Close ends all processes. Call it when no Open is under way any more; later ones fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.timer.Stop()
		w.kill()
	}
	p.idle = nil
	if p.cache == "" {
		return nil
	}
	return os.RemoveAll(p.cache)
}
