package pipeline

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// consume consumes a topic, as the bound of the workers says: while that is 0, what waits is the bus's.
func consume(ctx context.Context, b bus.Bus, cfg *Config, h bus.Handler) error {
	bound := cfg.Workers.Bound
	if bound == nil {
		return b.Consume(ctx, cfg.Topic, cfg.Workers, h)
	}
	for ctx.Err() == nil {
		most, changed := bound.Look()
		cfg.Metrics.bounded(cfg.Name, most)
		if most == 0 {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		if err := session(ctx, b, cfg, h); err != nil {
			return err
		}
	}
	return nil
}

// session consumes until the bound is 0, or ctx is done.
func session(ctx context.Context, b bus.Bus, cfg *Config, h bus.Handler) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	defer func() { <-done }()
	defer stop()
	go func() {
		defer close(done)
		for most, changed := cfg.Workers.Bound.Look(); ; most, changed = cfg.Workers.Bound.Look() {
			if cfg.Metrics.bounded(cfg.Name, most); most == 0 {
				stop()
			}
			select {
			case <-within.Done():
				return
			case <-changed:
			}
		}
	}()
	return b.Consume(within, cfg.Topic, cfg.Workers, h)
}
