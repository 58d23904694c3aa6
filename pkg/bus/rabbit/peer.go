package rabbit

import (
	"context"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Publisher publishes to the broker of another node and does nothing else there: it declares no queue, consumes nothing
// and calls no API. It has one connection with one channel for each vhost that it has published to.
type Publisher struct{ bus *Bus }

// errForeign is logged as the reason why an unroutable message waits.
var errForeign = errors.New("the programs of that node make its queues when they start")

// OpenPublisher returns a publisher. It connects when it is first used, and keeps trying. The management address of cfg
// is not used.
func OpenPublisher(cfg Config) (*Publisher, error) {
	// of a bundle that others wait for, too, a caller whose context ends does not learn whether the broker refused
	cfg.Bundle = 1
	b, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	for _, v := range b.vhosts {
		v.publishing.prepare = func(_ context.Context, _ *session, missing []string) error {
			if len(missing) > 0 {
				return errForeign
			}
			return nil
		}
	}
	return &Publisher{b}, nil
}

// Publish implements bus.Bus. It returns bus.ErrBusy if ctx ended while the broker could be reached but refused the
// messages, because its topics are full or it has a memory or disk alarm.
func (p *Publisher) Publish(ctx context.Context, msgs ...bus.Message) error {
	return p.bus.Publish(ctx, msgs...)
}

// Close implements bus.Bus.
func (p *Publisher) Close() error { return p.bus.Close() }
