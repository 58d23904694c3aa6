package memcached

import (
	"log/slog"
	"sync"
	"time"
)

// breaker stops calls to a server that fails (circuit breaker, Nygard: Release It!). After some failures in a row it
// rejects all calls for a while, then lets one through. If that succeeds, all may pass; if it fails, the pause doubles.
// Calls that fail together count once, because a machine that stalls for a moment fails many. If the first call after
// the pause fails as well, that is logged.
type breaker struct {
	server string
	log    *slog.Logger
	now    func() time.Time

	mu       sync.Mutex
	failures int           // in a row, each of a call that began after the one before had failed
	failed   time.Time     // when the last of them was
	rest     time.Duration // 0: calls go through
	until    time.Time     // end of the rest
	probing  bool          // a call is trying whether the server is back
	said     bool          // people think that the server is down
}

const (
	maxFailures = 5
	minRest     = time.Second
	maxRest     = 30 * time.Second
)

// attempt is a call that the breaker let through.
type attempt struct {
	began time.Time
	probe bool
}

// allow reports whether a call may be made. Then done must be told how it ended.
func (b *breaker) allow() (a attempt, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.began = b.now()
	switch {
	case b.rest == 0:
		return a, true
	case b.probing || a.began.Before(b.until):
		return a, false
	}
	b.probing, a.probe = true, true
	return a, true
}

func (b *breaker) done(a attempt, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.probe {
		b.probing = false
	}
	switch {
	case err == nil:
		b.closed()
	case a.probe:
		b.open(min(2*b.rest, maxRest))
		if !b.said {
			b.said = true
			b.log.Warn("memcached does not answer; the crawl continues without it and tries now and then", "server", b.server,
				"error", err)
		}
	case b.rest == 0 && !a.began.Before(b.failed):
		b.failed = b.now()
		if b.failures++; b.failures >= maxFailures {
			b.open(minRest)
		}
	}
}

func (b *breaker) open(rest time.Duration) {
	b.rest = rest
	b.until = b.now().Add(rest)
}

// closed lets all calls through.
func (b *breaker) closed() {
	b.failures, b.rest = 0, 0
	if b.said {
		b.said = false
		b.log.Info("memcached answers again", "server", b.server)
	}
}
