package explore

import (
	"context"
	"sync"
	"time"
)

// What costs little is always made anew. Else a value that is some seconds old is given out while the next one is made,
// and making takes a fiftieth of a processor at most.
const (
	cheap      = 5 * time.Millisecond
	recentFor  = 5 * time.Second
	recentRest = 50
)

// recent remembers what was made of an index, which many ask for again and again.
type recent[T any] struct {
	mu      sync.Mutex
	have    bool
	value   T
	changes int64 // of the index when it was made
	ended   time.Time
	took    time.Duration
	busy    bool // it is made in the background
}

// get returns the value as of the changes of the index so far, or a recent one.
func (r *recent[T]) get(ctx context.Context, changes int64, produce func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.ended)
	switch {
	case r.have && r.changes == changes:
		return r.value, nil
	case r.have && r.took >= cheap && age < recentFor+2*recentRest*r.took:
		if !r.busy && age > recentRest*r.took {
			r.busy = true
			go r.renew(context.WithoutCancel(ctx), changes, produce)
		}
		return r.value, nil
	}
	began := time.Now()
	value, err := produce(ctx)
	if err == nil {
		r.keep(value, changes, began)
	}
	return value, err
}

// renew makes the value in the background.
func (r *recent[T]) renew(ctx context.Context, changes int64, produce func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, recentFor)
	defer cancel()
	began := time.Now()
	value, err := produce(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy = false; err == nil {
		r.keep(value, changes, began)
	}
}

func (r *recent[T]) keep(value T, changes int64, began time.Time) {
	r.have, r.value, r.changes, r.ended = true, value, changes, time.Now()
	r.took = r.ended.Sub(began)
}
