package direct

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// topic is what waits for the consumers of a topic in this process.
type topic struct {
	name    string
	root    bool // its messages always go over the broker
	bounded bool
	queue   chan delivery

	held     atomic.Int64 // parts of trees that are in memory: in the queue, with a handler, or postponed
	admitted atomic.Int64 // all that ever were

	senders sync.RWMutex  // held shared by who puts something in
	gone    chan struct{} // under senders; closed while there is no consumer

	mu        sync.Mutex // held by who opens or closes
	consumers int
}

// delivery is a message for a handler: the root of a tree or a part of one.
type delivery struct {
	msg  bus.Message
	tree *tree
	ctx  context.Context //nolint:containedctx // of a root's handler: it ends with the connection that it came over; nil: a part
}

// errNoConsumer says that nobody in this process consumes a topic.
var errNoConsumer = errors.New("no consumer in this process")

// open notes a consumer.
func (t *topic) open() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.consumers++; t.consumers == 1 {
		t.senders.Lock()
		t.gone = make(chan struct{})
		t.senders.Unlock()
	}
}

// close notes that a consumer ends. After the last one nothing is put in any more; last says that it was that.
func (t *topic) close() (last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.consumers--; t.consumers > 0 {
		return false
	}
	close(t.gone)    // who waits for room lets go of senders
	t.senders.Lock() // until the last one has
	defer t.senders.Unlock()
	return true
}

// put puts a message in, and waits for room until ctx is done.
func (t *topic) put(ctx context.Context, d delivery) error {
	t.senders.RLock()
	defer t.senders.RUnlock()
	if t.left() {
		return errNoConsumer
	}
	select {
	case t.queue <- d:
		return nil
	default:
	}
	select {
	case t.queue <- d:
		return nil
	case <-t.gone:
		return errNoConsumer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// offer puts a message in if there is a consumer and room.
func (t *topic) offer(d delivery) bool {
	t.senders.RLock()
	defer t.senders.RUnlock()
	if t.left() {
		return false
	}
	select {
	case t.queue <- d:
		return true
	default:
		return false
	}
}

// left reports whether there is no consumer.
func (t *topic) left() bool {
	select {
	case <-t.gone:
		return true
	default:
		return false
	}
}
