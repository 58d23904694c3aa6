package node

import "sync"

// brake holds the frontier while anybody is against leasing: the user, or the disk.
type brake struct {
	mu   sync.Mutex
	user bool
	disk bool
}

// Pause keeps the frontier from leasing until the user takes it back. What is under way goes on.
func (l *Local) Pause(paused bool) { l.hold(&l.brake.user, paused) }

// Paused reports whether the crawl leases nothing, by the user's wish or for want of disk.
func (l *Local) Paused() bool {
	l.brake.mu.Lock()
	defer l.brake.mu.Unlock()
	return l.brake.user || l.brake.disk
}

// hold sets one of the brake's reasons.
func (l *Local) hold(reason *bool, on bool) {
	l.brake.mu.Lock()
	defer l.brake.mu.Unlock()
	*reason = on
	l.frontier.Pause(l.brake.user || l.brake.disk)
}
