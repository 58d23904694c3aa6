package rabbit

import (
	"context"
	"time"
)

// WellLoaded is from how many tasks on a channel another one is opened.
const WellLoaded = wellLoaded

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
	q.Reached()
	for _, l := range []*link{q.v.consuming, q.v.publishing.link} {
		l.parked.Store(true)
		l.drop()
	}
}

// Reached returns when what was settled has reached the broker.
func (q *Queues) Reached() {
	for _, p := range q.pullers.all() {
		p.mu.Lock()
		_ = p.ch.Qos(p.prefetch, 0, false)
		p.mu.Unlock()
	}
}

// Channels is how many channels pull.
func (q *Queues) Channels() int { return len(q.pullers.all()) }

// Sweep deletes empty queues, whenever they were used last.
func (q *Queues) Sweep() error { return q.sweep(0) }

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
	for _, p := range q.pullers.all() {
		if err := q.renew(p, -time.Second); err != nil {
			return err
		}
	}
	return nil
}
