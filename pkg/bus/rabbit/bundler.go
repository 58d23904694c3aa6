package rabbit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// bundler publishes events that arrive at the same time as bundles. While a bundle of a queue is in flight the next one
// fills; it is sent when the first is confirmed, or when it is full. So an idle queue adds no delay, and under load a
// bundle holds what arrived between two confirms.
type bundler struct {
	publish func(ctx context.Context, out []outgoing) error // returns when they are confirmed
	most    int                                             // events of a bundle

	mu    sync.Mutex
	lanes map[string]*lane
}

// lane holds the bundles of one queue that are filling or in flight.
type lane struct {
	filling *bundle // nil: none
	flying  int     // bundles that have a sender
}

// bundle is a group of events. err may be read once done is closed.
type bundle struct {
	*lane
	queue   string
	out     []outgoing // may be read once it has left its lane
	bytes   int
	waiting int  // callers that have not given up
	sending bool // it has a sender
	ctx     context.Context
	cancel  context.CancelFunc // when nobody waits any more
	done    chan struct{}
	err     error
}

func newBundler(most int, publish func(context.Context, []outgoing) error) *bundler {
	return &bundler{publish: publish, most: most, lanes: map[string]*lane{}}
}

// add puts events into bundles and returns those to wait for.
func (b *bundler) add(out []outgoing) (in []*bundle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range out {
		if u := b.place(out[i]); len(in) == 0 || in[len(in)-1] != u {
			u.waiting++
			in = append(in, u)
		}
	}
	return in
}

// place puts an event into the bundle that fills.
func (b *bundler) place(o outgoing) *bundle {
	l := b.lanes[o.queue]
	if l == nil {
		l = &lane{}
		b.lanes[o.queue] = l
	}
	size := len(o.msg.Body) + len(o.msg.MessageId) + 8
	if l.filling != nil && l.filling.bytes+size > bundleBytes {
		b.seal(l)
	}
	if l.filling == nil {
		u := &bundle{lane: l, queue: o.queue, done: make(chan struct{})}
		u.ctx, u.cancel = context.WithCancel(context.Background())
		l.filling = u
		if l.flying == 0 {
			b.launch(u)
		}
	}
	u := l.filling
	u.out = append(u.out, o)
	u.bytes += size
	if len(u.out) >= b.most {
		b.seal(l)
	}
	return u
}

// seal closes the bundle that fills: later events go to the next one.
func (b *bundler) seal(l *lane) {
	u := l.filling
	l.filling = nil
	if !u.sending {
		b.launch(u)
	}
}

func (b *bundler) launch(u *bundle) {
	u.sending = true
	u.flying++
	go b.send(u)
}

// send publishes a bundle. It first yields to handlers that are ready to run, because they may have more events for it.
func (b *bundler) send(u *bundle) {
	runtime.Gosched()
	b.mu.Lock()
	if u.filling == u {
		u.filling = nil
	}
	b.mu.Unlock()
	u.err = b.publish(u.ctx, []outgoing{pack(u.out)})
	u.cancel()
	close(u.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.flying--; u.flying == 0 && u.filling != nil {
		b.launch(u.filling)
	}
}

// wait returns when the bundles were published, or ctx is done.
func (b *bundler) wait(ctx context.Context, in []*bundle) error {
	for i, u := range in {
		select {
		case <-u.done:
			if u.err != nil {
				b.leave(in[i+1:])
				return u.err
			}
		case <-ctx.Done():
			b.leave(in[i:])
			return errors.Join(fmt.Errorf("publish to queue %s: %w", u.queue, ctx.Err()), b.reason(u))
		}
	}
	return nil
}

// leave withdraws a caller from these bundles. Events that no caller waits for need not be published.
func (b *bundler) leave(in []*bundle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range in {
		if u.waiting--; u.waiting > 0 {
			continue
		}
		u.cancel()
		if u.filling == u { // the next caller begins another
			u.filling = nil
		}
	}
}

// reason is why a bundle that nobody waits for was not published; nil if unknown.
func (b *bundler) reason(u *bundle) error {
	b.mu.Lock()
	ending := u.sending && u.waiting == 0
	b.mu.Unlock()
	if !ending {
		return nil
	}
	<-u.done
	return u.err
}
