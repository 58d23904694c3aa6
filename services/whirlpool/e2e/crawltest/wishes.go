package crawltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Wished are executions by name, and what is wanted of each, one after the other. Each is the first of a workflow.
type Wished map[crawl.JobID][]workflow.Desired

// Wisher begins executions, and wants things of them, whether a server is there or not.
type Wisher struct {
	Done chan struct{} // closed when all have ended

	clients []*client.Client
	wished  Wished
	mu      sync.Mutex
	met     []string
}

// Wish starts a wisher, which asks the servers of the clients in turn, until all is over or the test ends.
func Wish(t *testing.T, wished Wished, clients ...*client.Client) *Wisher {
	t.Helper()
	w := &Wisher{Done: make(chan struct{}), clients: clients, wished: wished}
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan struct{})
	t.Cleanup(func() { stop(); <-gone })
	go func() {
		defer close(gone)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for turn := 0; ctx.Err() == nil; turn++ {
			over := 0
			for id := range w.wished {
				if ended, err := w.further(ctx, clients[turn%len(clients)], id); err == nil && ended {
					over++
				}
			}
			if over == len(w.wished) {
				close(w.Done)
				return
			}
			<-tick.C
		}
	}()
	return w
}

// Met are the wishes that a server took, in order.
func (w *Wisher) Met() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.met
}

// Over reports whether all executions have ended.
func (w *Wisher) Over() bool {
	select {
	case <-w.Done:
		return true
	default:
		return false
	}
}

// further does the next that is to be done with an execution. What the server did not answer is looked at again.
func (w *Wisher) further(ctx context.Context, c *client.Client, id crawl.JobID) (ended bool, err error) {
	x, err := c.Execution(ctx, id)
	if client.IsNotFound(err) {
		_, err = c.Run(ctx, string(id[:len(id)-len("-1")]), workflow.Overrides{})
		return false, err
	}
	if err != nil {
		return false, err
	}
	events, err := Events(ctx, c, id)
	if err != nil {
		return false, err
	}
	wished := 0
	for _, e := range events {
		if e.Type == "execution.wished" {
			wished++
		}
	}
	left := w.wished[id]
	if wished >= len(left) || x.State == workflow.Succeeded || x.State == workflow.Partial {
		return x.State.Ended(), nil
	}
	if !due(x, left, wished) {
		return false, nil
	}
	verb := map[workflow.Desired]string{workflow.Run: "resume", workflow.Pause: "pause",
		workflow.Stop: "stop"}[left[wished]]
	if _, err = c.Wish(ctx, id, verb, "a test"); err == nil {
		w.mu.Lock()
		w.met = append(w.met, string(id)+" "+verb)
		w.mu.Unlock()
	}
	var p *client.Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		return false, nil // it has moved on since it was read
	}
	return false, err
}

// due reports whether the wish before has come true, and the execution has gone on for a while since.
func due(x *api.ExecutionNow, wishes []workflow.Desired, n int) bool {
	switch {
	case wishes[n] == workflow.Run:
		return x.State == workflow.Stopped || x.State == workflow.Paused
	case n > 0 && wishes[n-1] == workflow.Pause:
		return x.State == workflow.Paused
	}
	return x.State == workflow.Running && x.Progress != nil && x.Progress.Pages >= int64(100*(n+1))
}

// Events returns all events of an execution, the oldest first.
func Events(ctx context.Context, c *client.Client, id crawl.JobID) (out []workflow.Event, err error) {
	for after := int64(0); ; {
		page, err := c.Events(ctx, id, after)
		if err != nil || len(page) == 0 {
			return out, err
		}
		out, after = append(out, page...), page[len(page)-1].ID
	}
}

// BrokenEvents lists what is wrong with the events of an execution that has ended: gaps, doubles, and states that do
// not follow from each other.
func BrokenEvents(events []workflow.Event) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var state workflow.State
	var last int64
	for i, e := range events {
		if e.Seq != i+1 {
			say("event %d of %s stands at place %d", e.Seq, e.Execution, i+1)
		}
		if e.ID <= last {
			say("event %d of %s has the id %d, after %d", e.Seq, e.Execution, e.ID, last)
		}
		last = e.ID
		var moved struct{ From, To workflow.State }
		if err := json.Unmarshal(e.Data, &moved); err != nil {
			say("event %d of %s: %v", e.Seq, e.Execution, err)
		}
		if moved.To == "" {
			continue
		}
		if moved.From != state || state != "" && !workflow.MayFollow(state, moved.To) {
			say("event %d of %s goes from %q to %q, the one before led to %q", e.Seq, e.Execution, moved.From, moved.To, state)
		}
		state = moved.To
	}
	if !state.Ended() {
		say("the last event leaves the execution in %q", state)
	}
	return faults
}
