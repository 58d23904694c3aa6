package peers

import (
	"fmt"
	"sync"
	"time"
)

// breaker stops publications to a broker that cannot be reached (circuit breaker, Nygard: Release It!). After a failure
// it rejects all for a while, then lets one through. If that succeeds, all may pass; if it fails, the pause doubles.
// Publications that are in flight when it opens are not interrupted.
type breaker struct {
	min, max time.Duration

	mu      sync.Mutex
	rest    time.Duration // 0: publications go through
	until   time.Time     // end of the rest
	trying  bool          // one is trying whether the broker is back
	failure error         // of the last try
}

func newBreaker(least, most time.Duration) *breaker { return &breaker{min: least, max: most} }

// attempt is a publication that the breaker let through.
type attempt struct{ probe bool }

// change is what an attempt's end made of the breaker.
type change int

const (
	same change = iota
	opened
	closed
)

// allow lets a publication through, or says why not. Then done or abandon must be told of its end.
func (b *breaker) allow() (attempt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.rest == 0:
		return attempt{}, nil
	case b.trying || time.Now().Before(b.until):
		return attempt{}, fmt.Errorf("%w, and was tried a moment ago: %w", ErrAway, b.failure)
	}
	b.trying = true
	return attempt{probe: true}, nil
}

// done notes how an attempt ended.
func (b *breaker) done(a attempt, err error) change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.probe {
		b.trying = false
	}
	switch {
	case err == nil && b.rest == 0:
		return same
	case err == nil: // also of one that began before the failure: it was reached
		b.rest, b.failure = 0, nil
		return closed
	case b.rest == 0:
		b.open(b.min, err)
		return opened
	case a.probe:
		b.open(min(2*b.rest, b.max), err)
	}
	return same
}

func (b *breaker) open(rest time.Duration, err error) {
	b.rest, b.until, b.failure = rest, time.Now().Add(rest), err
}

// abandon notes an attempt that ended without telling anything about the broker.
func (b *breaker) abandon(a attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.probe {
		b.trying = false
	}
}
