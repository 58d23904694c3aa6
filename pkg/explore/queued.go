package explore

import (
	"context"
	"time"
)

// countQueued is how many queued tasks are counted at most.
const countQueued = 100_000

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

// queuedNow returns a recent count of the queues, which change whether the index does or not.
func (x *index) queuedNow(ctx context.Context) (*queuedCounts, error) {
	return x.queued.get(ctx, time.Now().UnixNano(), x.countQueued)
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
