package direct

// Consumed reports whether somebody in this process consumes a topic: what is published to it stays in memory.
func (b *Bus) Consumed(topic string) bool {
	t := b.topic(topic)
	t.senders.RLock()
	defer t.senders.RUnlock()
	return !t.left()
}
