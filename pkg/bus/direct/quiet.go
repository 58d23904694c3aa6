package direct

import (
	"context"
	"fmt"
	"time"
)

// quietPause is the time between two looks at what is in memory.
const quietPause = 20 * time.Millisecond

// Held returns how many messages of a topic were handed on in memory and have not come to their end.
func (b *Bus) Held(topic string) int64 { return b.topic(topic).held.Load() }

// HandedOn returns how many messages of a topic were handed on in memory so far.
func (b *Bus) HandedOn(topic string) int64 { return b.topic(topic).admitted.Load() }

// Quiet waits until the topics hold nothing, neither in the broker nor in memory. The broker is looked at while nothing
// is handed on: a message that moves from one to the other is counted on its way.
func (b *Bus) Quiet(ctx context.Context, topics ...string) error {
	for {
		before, _ := b.look(topics)
		if _, held := b.look(topics); held == 0 {
			if err := b.broker.Quiet(ctx, topics...); err != nil {
				return err
			}
			if after, held := b.look(topics); held == 0 && after == before {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("direct: wait until topics %q are empty: %w", topics, ctx.Err())
		case <-time.After(quietPause):
		}
	}
}

// look counts what was ever handed on in the topics, and then what of it is there.
func (b *Bus) look(topics []string) (ever, now int64) {
	for _, name := range topics {
		ever += b.topic(name).admitted.Load()
	}
	for _, name := range topics {
		now += b.topic(name).held.Load()
	}
	return ever, now
}
