package node

import "sync"

// brake holds the frontier while the user or a full disk forbids leasing.
type brake struct {
	mu   sync.Mutex
	user bool
	why  string // of user: what a plug-in stopped the job for; empty: it is a user's wish
	disk bool
}

// Pause keeps the frontier from leasing until the user takes it back. What is under way goes on.
func (e *Engine) Pause(paused bool) { e.pauseFor(paused, "") }

func (e *Engine) pauseFor(paused bool, why string) {
	e.brake.mu.Lock()
	e.brake.why = why
	e.brake.mu.Unlock()
	e.hold(&e.brake.user, paused)
}

// PausedFor says in words for people why nothing is leased; empty: it is a user's wish, or nothing is paused.
func (e *Engine) PausedFor() string {
	e.brake.mu.Lock()
	defer e.brake.mu.Unlock()
	if e.brake.disk {
		return "the disk is nearly full; it continues by itself when there is room"
	}
	return e.brake.why
}

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
