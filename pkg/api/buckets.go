package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of requests where a key has none of its own, and of sessions: a page of the studio makes some twenty at once.
const (
	defaultRate  = 50.0
	defaultBurst = 200
	maxRate      = 1000.0
	maxBurst     = 10_000
)

// buckets are the token buckets of those who ask. They are of this process: of several copies each grants its part.
type buckets struct {
	copies func() int // that run; nil: this one
	mu     sync.Mutex
	of     map[string]*rate.Limiter
	swept  time.Time
}

// sweepBuckets is how often buckets are dropped that are full again: nobody would notice.
const sweepBuckets = 10 * time.Minute

// take takes a token; wait is how long until there is one, where there is none.
func (b *buckets) take(who Identity, now time.Time) (wait time.Duration, good bool) {
	if who.Via == "open" || who.Role < Viewer || who.hash == localKey {
		return 0, true
	}
	perSecond, burst := who.rate, who.burst
	if perSecond <= 0 {
		perSecond, burst = defaultRate, defaultBurst
	}
	if b.copies != nil {
		n := max(b.copies(), 1)
		perSecond, burst = perSecond/float64(n), (burst+n-1)/n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep(now)
	l := b.of[who.Via+" "+who.hash]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(perSecond), burst)
		b.of[who.Via+" "+who.hash] = l
	}
	if l.Limit() != rate.Limit(perSecond) || l.Burst() != burst {
		l.SetLimitAt(now, rate.Limit(perSecond))
		l.SetBurstAt(now, burst)
	}
	r := l.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait == 0 {
		return 0, true
	}
	r.CancelAt(now)
	return wait, false
}

func (b *buckets) sweep(now time.Time) {
	if now.Sub(b.swept) < sweepBuckets {
		return
	}
	b.swept = now
	for key, l := range b.of {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(b.of, key)
		}
	}
}

// limited answers those who ask too often with 429.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wait, good := s.guard.buckets.take(identityOf(r.Context()), s.now())
		if !good {
			seconds := int(math.Ceil(wait.Seconds()))
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
			writeProblem(w, r, http.StatusTooManyRequests,
				fmt.Sprintf("this key or session asks more often than it may: wait %d s", seconds))
			return
		}
		next.ServeHTTP(w, r)
	})
}
