package peers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// peer is another node at one address.
type peer struct {
	cfg        *Config
	node, addr string
	breaker    *breaker
	unknown    time.Time // since when the sweeper finds no address; the Bus's lock guards it

	mu     sync.Mutex
	way    Publisher // nil: not opened yet
	closed bool
}

func newPeer(cfg *Config, node, addr string) *peer {
	return &peer{cfg: cfg, node: node, addr: addr, breaker: newBreaker(cfg.Rest, cfg.MaxRest)}
}

// publish publishes unless the broker is known to be out of reach.
func (p *peer) publish(ctx context.Context, msgs []bus.Message) error {
	a, err := p.breaker.allow()
	if err != nil {
		return err
	}
	err = p.try(ctx, msgs)
	// says nothing about the broker
	if crawl.IsPermanent(err) || err != nil && ctx.Err() != nil || errors.Is(err, errClosed) {
		p.breaker.abandon(a)
		return err
	}
	switch p.breaker.done(a, err) {
	case opened:
		p.cfg.Log.Warn("the broker of a node cannot be reached: messages for it wait on disk at their source and are retried",
			"node", p.node, "address", p.addr, "error", err)
	case closed:
		p.cfg.Log.Info("the broker of a node can be reached again", "node", p.node, "address", p.addr)
	}
	if err != nil {
		return fmt.Errorf("%w (%s): %w", ErrAway, p.addr, err)
	}
	return nil
}

// try publishes within the timeout, and within the patience as long as the broker says that it is full.
func (p *peer) try(ctx context.Context, msgs []bus.Message) error {
	way, err := p.open()
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		err := within(ctx, p.cfg.Timeout, func(ctx context.Context) error {
			err := way.Publish(ctx, msgs...)
			if errors.Is(err, bus.ErrBusy) {
				<-ctx.Done() // where it did not wait by itself
			}
			return err
		})
		if !errors.Is(err, bus.ErrBusy) || ctx.Err() != nil || time.Since(began) >= p.cfg.Patience {
			return err
		}
	}
}

func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}

// open returns the way to the broker.
func (p *peer) open() (Publisher, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.way == nil {
		way, err := p.cfg.Open(p.addr)
		if err != nil {
			return nil, fmt.Errorf("open a way to it: %w", err)
		}
		p.way = way
	}
	return p.way, nil
}

func (p *peer) close() {
	p.mu.Lock()
	way := p.way
	p.way, p.closed = nil, true
	p.mu.Unlock()
	if way == nil {
		return
	}
	if err := way.Close(); err != nil {
		p.cfg.Log.Warn("closing the connection to a node's broker failed", "node", p.node, "address", p.addr, "error", err)
	}
}
