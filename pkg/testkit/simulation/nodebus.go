package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// nodeBus is a node's way to its own broker and to those of the others. It implements bus.Bus.
type nodeBus struct {
	cluster *Cluster
	broker  *broker
}

var _ bus.Bus = (*nodeBus)(nil)

// unreachable is how long a message waits whose broker is out of reach.
const unreachable = 5 * time.Second

// Publish implements bus.Bus: it returns when all brokers have the messages on disk.
func (b *nodeBus) Publish(ctx context.Context, msgs ...bus.Message) error {
	groups, order := map[*broker][]bus.Message{}, []*broker{}
	for _, m := range msgs {
		to := b.broker
		if a, ok := m.Event.(crawl.Addressed); ok && a.Destination() != "" {
			if to = b.cluster.brokerOf(a.Destination()); to == nil {
				return b.lost(a.Destination())
			}
		}
		if groups[to] == nil {
			order = append(order, to)
		}
		groups[to] = append(groups[to], m)
	}
	var last time.Time
	for _, to := range order {
		ready, alive := to.accept(groups[to], to != b.broker)
		if !alive {
			return b.lost("a dead one")
		}
		if ready.After(last) {
			last = ready
		}
	}
	if !sleep(ctx, tick(time.Until(last)+b.cluster.cfg.Hop)) {
		return ctx.Err()
	}
	for _, to := range order {
		if !to.deliver(groups[to]...) {
			return b.lost("one that died")
		}
	}
	return nil
}

func (b *nodeBus) lost(node string) error {
	return &bus.RetryError{After: unreachable, Expected: true,
		Err: fmt.Errorf("simulation: the broker of %s is out of reach", node)}
}

// tick rounds up to milliseconds, so that events at nearly the same time get the same time on all processors.
func tick(d time.Duration) time.Duration { return d.Truncate(time.Millisecond) + time.Millisecond }

// Consume implements bus.Bus.
func (b *nodeBus) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	return b.broker.consume(ctx, topic, w.Max, h)
}

// sleep waits and reports whether ctx is alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
