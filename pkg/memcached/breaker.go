package memcached

import (
	"log/slog"
	"sync"
	"time"
)

// breaker keeps calls from a server that fails (circuit breaker, Nygard: Release It!). After some failures in a row it lets none
// through for a while, then one, whose success lets all through again and whose failure doubles the while.
type breaker struct {
	server string
	log    *slog.Logger
	now    func() time.Time

	mu       sync.Mutex
	failures int           // in a row
	rest     time.Duration // 0: calls go through
	until    time.Time     // end of the rest
	probing  bool          // a call is trying whether the server is back
}

const (
	maxFailures = 3
	minRest     = time.Second
	maxRest     = 30 * time.Second
)

// allow reports whether a call may be made. Then done must be told how it ended.
func (b *breaker) allow() (ok, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.rest == 0:
		return true, false
	case b.probing || b.now().Before(b.until):
		return false, false
	}
	b.probing = true
	return true, true
}

func (b *breaker) done(probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch {
	case err == nil && b.rest > 0:
		b.log.Info("memcached answers again", "server", b.server)
		fallthrough
	case err == nil:
		b.failures, b.rest = 0, 0
	case b.rest > 0 && probe:
		b.open(min(2*b.rest, maxRest))
	case b.rest == 0:
		if b.failures++; b.failures >= maxFailures {
			b.log.Warn("memcached does not answer; the crawl goes on without it and tries now and then", "server", b.server, "error", err)
			b.open(minRest)
		}
	}
}

func (b *breaker) open(rest time.Duration) {
	b.rest = rest
	b.until = b.now().Add(rest)
}

// abandon is done for a call that says nothing about the server.
func (b *breaker) abandon(probe bool) {
	if !probe {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
