package rabbit

import (
	"context"
	"time"
)

// Kill ends the connections as the death of the process would: no acknowledgement, no closing handshake, and nobody
// connects again.
func (b *Bus) Kill() {
	for _, v := range b.vhosts {
		for _, l := range []*link{v.consuming, v.publishing.link} {
			l.parked.Store(true)
			l.drop()
		}
	}
}

// Drop cuts the connections, which the bus then makes again.
func (b *Bus) Drop() {
	for _, v := range b.vhosts {
		v.consuming.drop()
		v.publishing.link.drop()
	}
}

// Kill is the same of the frontier's queues. What was settled before has reached the broker: the promise allows it to
// be late, the suite expects it.
func (q *Queues) Kill() {
	for _, p := range q.pulls {
		p.mu.Lock()
		_ = p.ch.Qos(p.prefetch, 0, false)
		p.mu.Unlock()
	}
	for _, l := range []*link{q.v.consuming, q.v.publishing.link} {
		l.parked.Store(true)
		l.drop()
	}
}

// LosePulls cuts the connection with which tasks are pulled, and no other.
func (q *Queues) LosePulls() { q.v.consuming.drop() }

// PushNow is a Push that began before the loss was noticed.
func (q *Queues) PushNow(ctx context.Context, queue string) error {
	return q.v.publishing.publish(ctx, []outgoing{{queue: queue}})
}

func (l *link) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		l.current.batch.cut()
	}
}

// Renew renews the pulled tasks whatever their age.
func (q *Queues) Renew() error {
	for _, p := range q.pulls {
		if err := p.renew(-time.Second); err != nil {
			return err
		}
	}
	return nil
}
