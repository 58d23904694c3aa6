package explore

import (
	"context"
	"sync"
	"time"
)

// Counts of the queues are cached: they are bounded in tasks, and made no more often than this.
const (
	countQueued = 100_000
	queuedFor   = 5 * time.Second
)

// queuedShape remembers a count of the queues.
type queuedShape struct {
	mu     sync.Mutex
	at     time.Time
	counts *queuedCounts
}

// queuedCounts count the queued tasks of an execution. Where there are more than countQueued, cells are of the first.
type queuedCounts struct {
	all, counted int64
	inFlight     int64
	cells        map[queuedKey]int64
}

type queuedKey struct {
	host  string
	depth int
}

// of returns a count that is queuedFor old at most.
func (q *queuedShape) of(ctx context.Context, ix *index) (*queuedCounts, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.counts != nil && time.Since(q.at) < queuedFor {
		return q.counts, nil
	}
	counts, err := ix.countQueued(ctx)
	if err == nil {
		q.at, q.counts = time.Now(), counts
	}
	return counts, err
}

func (x *index) countQueued(ctx context.Context) (*queuedCounts, error) {
	c := &queuedCounts{cells: map[queuedKey]int64{}}
	if x.source().Live == nil {
		return c, nil
	}
	for after := ""; c.counted < countQueued; {
		tasks, next, err := x.source().Live.Queued(ctx, x.source().ID, after, 5_000)
		if err != nil {
			return nil, err
		}
		c.counted += int64(len(tasks))
		for i := range tasks {
			c.cells[queuedKey{tasks[i].URL.HostKey(), tasks[i].Depth}]++
		}
		if after = next; next == "" {
			break
		}
	}
	now, err := x.source().Live.Counts(ctx, x.source().ID)
	c.all, c.inFlight = max(now.Queued, c.counted), now.InFlight
	return c, err
}
