package membus

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Journal keeps the messages that others grow from, on disk.
type Journal interface {
	// Append stores messages; they are durable when it returns. Their sequence numbers are first, first+1, …
	Append(ctx context.Context, msgs ...bus.Message) (first uint64, err error)
	// Remove forgets messages. It may do so a little later: a message that comes back once too often does no harm.
	Remove(ctx context.Context, seqs ...uint64) error
	// Load calls yield for every message that was not removed, in the order of their numbers.
	Load(ctx context.Context, yield func(seq uint64, m bus.Message) error) error
}

// DeadLetters keeps messages that no handler could make sense of.
type DeadLetters interface {
	// Bury stores a dead letter; it is durable when it returns. A letter with the id of a former one replaces it.
	Bury(ctx context.Context, d bus.DeadLetter) error
}
