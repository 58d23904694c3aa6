package chain

import (
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// When a node is left alone: after so many failures in a row, or when half of the last calls failed. Then one call
// tries again after firstRest, and each time that fails the rest doubles up to longestRest.
const (
	maxInRow    = 20
	window      = 200
	firstRest   = time.Minute
	longestRest = 30 * time.Minute
)

// stateKey is a node of a job with a version of its plug-in: its figures and its breaker go over revisions.
type stateKey struct {
	job         crawl.JobID
	node        string
	at          crawl.Point
	use, digest string
}

// state is the breaker of a node, and its figures.
type state struct {
	key  stateKey
	last uint64 // when it was asked for; guarded by Runner.mu

	mu      sync.Mutex
	inRow   int
	recent  [window]bool // failures, as a ring
	at      int
	bad     int           // failures among recent
	rest    time.Duration // of the next trip; 0: it works
	until   time.Time     // no call before; zero: it works
	trying  bool          // the call that tries again is under way
	called  bool
	figures Figures
}

// stateOf returns the state of a node.
func (r *Runner) stateOf(k stateKey) *state {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.states[k]
	if s == nil {
		r.dropOldest()
		s = &state{key: k}
		s.figures.Node, s.figures.At, s.figures.Use = k.node, k.at, k.use
		r.states[k] = s
	}
	r.used++
	s.last = r.used
	return s
}

// dropOldest makes room for a state. r.mu is held.
func (r *Runner) dropOldest() {
	if len(r.states) < maxStates {
		return
	}
	var oldest *state
	for _, s := range r.states {
		if oldest == nil || s.last < oldest.last {
			oldest = s
		}
	}
	delete(r.states, oldest.key)
}

// try reports whether the node may be called.
func (s *state) try(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until.IsZero() {
		return true
	}
	if now.Before(s.until) || s.trying {
		s.figures.Passed++
		return false
	}
	s.trying = true
	return true
}

// undo takes back a try that came to nothing.
func (s *state) undo() {
	s.mu.Lock()
	s.trying = false
	s.mu.Unlock()
}

// first reports whether no call was made yet.
func (s *state) first() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.called
	s.called = true
	return first
}

func (s *state) skipped() {
	s.mu.Lock()
	s.figures.Skipped++
	s.mu.Unlock()
}

func (s *state) succeeded(a plugin.Action, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.add(took)
	switch a {
	case plugin.Patch:
		s.figures.Patched++
	case plugin.Drop, plugin.LinksOnly:
		s.figures.Dropped++
	}
	if !s.until.IsZero() { // it works again
		s.bad, s.recent = 0, [window]bool{}
	}
	s.note(false)
	s.inRow, s.until, s.rest, s.trying = 0, time.Time{}, 0, false
	s.figures.Tripped = time.Time{}
}

// failed notes a failure, and says whether it is the first one. Where the node is left alone for it, it says until
// when; else it is zero.
func (s *state) failed(now time.Time, took time.Duration) (until time.Time, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.add(took)
	s.figures.Errors++
	first = s.figures.Errors == 1
	s.note(true)
	s.inRow++
	if s.until.IsZero() && s.inRow < maxInRow && s.bad < window/2 {
		return time.Time{}, first
	}
	if !s.until.IsZero() && !s.trying {
		return time.Time{}, first // a call from before the trip
	}
	s.rest = min(max(2*s.rest, firstRest), longestRest)
	s.until, s.trying = now.Add(s.rest), false
	s.figures.Tripped = s.until
	return s.until, first
}

func (s *state) note(failed bool) {
	if s.recent[s.at] {
		s.bad--
	}
	if failed {
		s.bad++
	}
	s.recent[s.at] = failed
	s.at = (s.at + 1) % window
}
