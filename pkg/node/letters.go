package node

import (
	"context"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// letters are the dead letters of a store, counted by job.
type letters struct {
	local.DeadLetters
	mu sync.Mutex
	by map[crawl.JobID]map[crawl.MessageID]bool
}

// openLetters counts what the store holds. A letter that cannot be read belongs to no job.
func openLetters(ctx context.Context, d local.DeadLetters) (*letters, error) {
	l := &letters{DeadLetters: d, by: map[crawl.JobID]map[crawl.MessageID]bool{}}
	return l, d.ListReadable(ctx, func(m bus.DeadLetter) error {
		l.add(&m)
		return nil
	})
}

func (l *letters) add(m *bus.DeadLetter) {
	id := crawl.JobOf(m.Message.Event)
	if l.by[id] == nil {
		l.by[id] = map[crawl.MessageID]bool{}
	}
	l.by[id][m.Message.ID] = true
}

// Bury implements membus.DeadLetters.
func (l *letters) Bury(ctx context.Context, m bus.DeadLetter) error {
	if err := l.DeadLetters.Bury(ctx, m); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(&m)
	return nil
}

// of is how many letters a job has.
func (l *letters) of(id crawl.JobID) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.by[id]))
}

// gone notes that letters of a job were delivered again; all of them where none are named.
func (l *letters) gone(id crawl.JobID, ids ...crawl.MessageID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range ids {
		delete(l.by[id], m)
	}
	if len(ids) == 0 || len(l.by[id]) == 0 {
		delete(l.by, id)
	}
}
