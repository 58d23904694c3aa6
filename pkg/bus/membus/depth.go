package membus

// Depth returns how many messages wait in a topic.
func (b *Bus) Depth(name string) int { return len(b.topic(name).queue) }

// Held returns how many messages of a topic are not handled, those included that wait to come back.
func (b *Bus) Held(name string) int { return int(b.topic(name).held.Load()) }
