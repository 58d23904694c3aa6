package frontier

import (
	"errors"
	"sync"
)

// errAbandoned is the error of a result whose batch came to an end before its turn: it is handled again.
var errAbandoned = errors.New("frontier: the batch of outcomes was not finished")

// gather handles results that come at the same time as one batch, so that they share the commits of the stores. The
// first of a batch leads: it waits for the batch before to be handled, and meanwhile others join.
type gather struct {
	mu   sync.Mutex
	open *batch
	turn sync.Mutex // held by the leader that handles its batch
}

type batch struct {
	results []*result
	done    chan struct{}
}

// do returns when r was handled in some batch, with what handle made of r.err.
func (g *gather) do(r *result, handle func([]*result)) error {
	r.err = errAbandoned
	g.mu.Lock()
	b := g.open
	lead := b == nil
	if lead {
		b = &batch{done: make(chan struct{})}
		g.open = b
	}
	b.results = append(b.results, r)
	g.mu.Unlock()
	if lead {
		g.lead(b, handle)
	} else {
		<-b.done
	}
	return r.err
}

func (g *gather) lead(b *batch, handle func([]*result)) {
	g.turn.Lock()
	defer g.turn.Unlock()
	g.mu.Lock()
	g.open = nil
	g.mu.Unlock()
	defer close(b.done)
	handle(b.results)
}
