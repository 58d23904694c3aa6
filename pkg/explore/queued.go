package explore

import (
	"context"
	"time"
)

// So many queued tasks are counted at most: few at first, so that nobody waits, and then more in the background.
const (
	countFirst  = 5_000
	countQueued = 50_000
)

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

// queuedNow returns a recent count of the queues, which change whether the index does or not. How many they are is that
// of this moment.
func (x *index) queuedNow(ctx context.Context) (*queuedCounts, error) {
	recent, err := x.queued.get(ctx, time.Now().UnixNano(), x.countQueued)
	if err != nil || x.source().Live == nil {
		return recent, err
	}
	c := *recent
	now, err := x.source().Live.Counts(ctx, x.source().ID)
	c.all, c.inFlight = max(now.Queued, c.counted), now.InFlight
	return &c, err
}

func (x *index) countQueued(ctx context.Context) (*queuedCounts, error) {
	c := &queuedCounts{cells: map[queuedKey]int64{}}
	if x.source().Live == nil {
		return c, nil
	}
	most := int64(countQueued)
	if !x.countedOnce.Swap(true) {
		most = countFirst
	}
	for after := ""; c.counted < most; {
		tasks, next, err := x.source().Live.Queued(ctx, x.source().ID, after, 5_000)
		if err != nil {
			return nil, err
		}
		c.counted += int64(len(tasks))
		for i := range tasks {
			c.cells[queuedKey{tasks[i].URL.HostKey(), tasks[i].Depth}]++
		}
		if after = next; next == "" || len(tasks) == 0 { // the next so many are of other executions
			break
		}
	}
	return c, nil
}
