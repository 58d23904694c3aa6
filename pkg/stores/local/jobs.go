package local

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// jobs gives every job's name a small number for use in keys. There are few: all are kept in memory.
type jobs struct {
	s  *Store
	mu sync.RWMutex
	by map[crawl.JobID]jobNum
}

func openJobs(s *Store) (*jobs, error) {
	j := &jobs{s: s, by: map[crawl.JobID]jobNum{}}
	err := s.scan(context.Background(), []byte{kindJob}, func(k, v []byte) error {
		if len(v) != 2 {
			return fmt.Errorf("job %q in the state of %s has no number: the state is damaged", k[1:], s.dir)
		}
		j.by[crawl.JobID(k[1:])] = jobNum(binary.BigEndian.Uint16(v))
		return nil
	})
	return j, err
}

// find returns the number of a job; false for one never heard of.
func (j *jobs) find(id crawl.JobID) (jobNum, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	n, ok := j.by[id]
	return n, ok
}

// number returns the number of a job, giving it one the first time.
func (j *jobs) number(ctx context.Context, id crawl.JobID) (jobNum, error) {
	if n, ok := j.find(id); ok {
		return n, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if n, ok := j.by[id]; ok {
		return n, nil
	}
	if len(j.by) > math.MaxUint16 {
		return 0, fmt.Errorf("job %q: the store holds %d jobs already", id, len(j.by))
	}
	n := jobNum(len(j.by))
	err := j.s.do(ctx, func(b *pebble.Batch) {
		_ = b.Set(stringKey(kindJob, string(id)), binary.BigEndian.AppendUint16(nil, uint16(n)), nil)
	})
	if err == nil {
		j.by[id] = n
	}
	return n, err
}

// name returns the name of a job's number.
func (j *jobs) name(n jobNum) (crawl.JobID, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for id, have := range j.by {
		if have == n {
			return id, true
		}
	}
	return "", false
}

// count is the number of jobs; their numbers are below it.
func (j *jobs) count() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.by)
}
