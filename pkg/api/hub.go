package api

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// hub gives events to readers. It keeps the last ones once, for all of them: a reader has nothing but the id of the
// event it saw last, so that readers who do not read cost no memory.
type hub struct {
	s   *Server
	ctx context.Context

	taking sync.Mutex // held by take

	mu      sync.Mutex
	ring    []notice // ascending ids
	last    int64    // id of the last event there is
	wake    chan struct{}
	topics  map[string]*volatileTopic
	readers int
}

const (
	ringEvents = 4096 // that are kept in memory
	maxBehind  = 256  // events that a reader is behind, before it has to read everything again
	maxReaders = 4096
	hubPage    = 200
	hubPoll    = 2 * time.Second // events that no signal told of
)

// notice is a durable event, written once for all readers.
type notice struct {
	event workflow.Event
	line  []byte
}

func newHub(ctx context.Context, s *Server) *hub {
	return &hub{s: s, ctx: ctx, wake: make(chan struct{}), topics: map[string]*volatileTopic{}}
}

// begin finds the last event there is. Without it a reader who comes back early would seem to be ahead of all events.
func (h *hub) begin() error {
	events, err := h.s.Workflows.Events(h.ctx, workflow.EventFilter{Last: true}, 0, 1)
	if err != nil || len(events) == 0 {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = events[len(events)-1].ID
	return nil
}

// run reads events as they come, until the server ends.
func (h *hub) run() {
	news := h.s.Workflows.Subscribe(h.ctx)
	tick := time.NewTicker(hubPoll)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-news:
		case <-tick.C:
		}
		if err := h.take(); err != nil && h.ctx.Err() == nil {
			h.s.log.Warn("events cannot be read; readers wait", "error", err)
		}
	}
}

// take reads the events that came.
func (h *hub) take() error {
	h.taking.Lock()
	defer h.taking.Unlock()
	for {
		h.mu.Lock()
		after := h.last
		h.mu.Unlock()
		events, err := h.s.Workflows.Events(h.ctx, workflow.EventFilter{}, after, hubPage)
		if err != nil || len(events) == 0 {
			return err
		}
		h.mu.Lock()
		for _, e := range events {
			h.ring = append(h.ring, notice{e, durableLine(&e)})
			h.last = e.ID
		}
		if over := len(h.ring) - ringEvents; over > 0 {
			h.ring = append([]notice(nil), h.ring[over:]...)
		}
		h.rouse()
		h.mu.Unlock()
	}
}

// rouse wakes all readers. The lock is held.
func (h *hub) rouse() {
	close(h.wake)
	h.wake = make(chan struct{})
}

// durableLine is an event as it is in the stream.
func durableLine(e *workflow.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		data = []byte("{}") // its data are no JSON: the id still counts
	}
	return frame(e.ID, "event", data)
}

// since returns what a reader has not seen of the events that it wants, and where it is then. lost says that it was too
// far behind, or that the ids began anew: it has to read everything again.
func (h *hub) since(after int64, wants func(*workflow.Event) bool) (lines [][]byte, at int64, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after > h.last || len(h.ring) > 0 && after < h.ring[0].event.ID-1 && after < h.last {
		return nil, h.last, after > h.last || h.missed(after)
	}
	for i := len(h.ring) - 1; i >= 0 && h.ring[i].event.ID > after; i-- {
		if wants(&h.ring[i].event) {
			lines = append(lines, h.ring[i].line)
		}
		if len(lines) > maxBehind {
			return nil, h.last, true
		}
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines, h.last, false
}

// missed reports whether events behind after are no longer in the ring. The lock is held.
func (h *hub) missed(after int64) bool { return len(h.ring) > 0 && after < h.ring[0].event.ID-1 }

// now is where a new reader begins, and what wakes it.
func (h *hub) now() (int64, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.wake
}

// enter counts a reader in; false: there are too many.
func (h *hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers >= maxReaders {
		return false
	}
	h.readers++
	return true
}

func (h *hub) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers--
}
