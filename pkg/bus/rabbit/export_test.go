package rabbit

import (
	"context"
	"time"
)

// Kill ends the connections as if the process had died: no acknowledgements, no closing handshake, no reconnect.
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

// Kill does the same with the frontier's queues. Settlements made before have reached the broker: the interface lets
// them be late, but the suite expects them.
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
