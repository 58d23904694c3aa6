package workflow

import "context"

// tailBatch is how many events a Tail reads at once.
const tailBatch = 200

// Tail hears of events as they are stored.
type Tail struct {
	m    *Manager
	news <-chan struct{}
	last int64 // number of the last event that was read
}

// Tail begins at the end of the stored events: its Each hears of all that come later, until ctx is done.
func (m *Manager) Tail(ctx context.Context) *Tail {
	t := &Tail{m: m, news: m.Subscribe(ctx)}
	if events, err := m.Events(ctx, EventFilter{Last: true}, 0, 1); err == nil && len(events) > 0 {
		t.last = events[0].ID
	}
	return t
}

// Each calls do for each event, in their order, until ctx is done. Where events cannot be read it says so in the log,
// and reads them when the next one comes.
func (t *Tail) Each(ctx context.Context, do func(*Event)) {
	for {
		events, err := t.m.Events(ctx, EventFilter{}, t.last, tailBatch)
		if err != nil && ctx.Err() == nil {
			t.m.opt.Log.Error("events of executions cannot be read: lists and search may be behind", "error", err)
		}
		for i := range events {
			t.last = events[i].ID
			do(&events[i])
		}
		if len(events) == tailBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-t.news:
		}
	}
}
