package node

import "sync"

// brake holds the frontier while the user or a full disk forbids leasing.
type brake struct {
	mu   sync.Mutex
	user bool
	disk bool
}

// Pause keeps the frontier from leasing until the user takes it back. What is under way goes on.
func (e *Engine) Pause(paused bool) { e.hold(&e.brake.user, paused) }

// Paused reports whether nothing is leased, by the user's wish or for want of disk.
func (e *Engine) Paused() bool {
	e.brake.mu.Lock()
	defer e.brake.mu.Unlock()
	return e.brake.user || e.brake.disk
}

// hold sets one of the brake's reasons.
func (e *Engine) hold(reason *bool, on bool) {
	e.brake.mu.Lock()
	defer e.brake.mu.Unlock()
	*reason = on
	e.frontier.Pause(e.brake.user || e.brake.disk)
}
