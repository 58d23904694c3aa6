package local

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// jobs gives every job's name a small number for use in keys. There are few: all are kept in memory.
//
// A number is given once, even where its job is discarded: what comes late for a job that is gone finds no other.
type jobs struct {
	s     *Store
	mu    sync.RWMutex
	by    map[crawl.JobID]jobNum
	names map[jobNum]crawl.JobID
	next  uint64
}

//nolint:contextcheck // a local scan at opening: nothing cancels it
func openJobs(s *Store) (*jobs, error) {
	j := &jobs{s: s, by: map[crawl.JobID]jobNum{}, names: map[jobNum]crawl.JobID{}}
	err := s.scan(context.Background(), []byte{kindJob}, func(k, v []byte) error {
		if len(v) != jobLen {
			return fmt.Errorf("job %q in the state of %s has no number: the state is damaged", k[1:], s.dir)
		}
		j.add(crawl.JobID(k[1:]), jobNum(binary.BigEndian.Uint32(v)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = s.get([]byte{kindJobNext}, func(v []byte) error {
		r := codec.Reader{B: v}
		j.next = max(j.next, r.Uvarint(math.MaxUint32+1))
		if r.Bad {
			return fmt.Errorf("the number of the next job in the state of %s is damaged", s.dir)
		}
		return nil
	})
	return j, err
}

func (j *jobs) add(id crawl.JobID, n jobNum) {
	j.by[id], j.names[n] = n, id
	j.next = max(j.next, uint64(n)+1)
}

// find returns the number of a job; false for one never heard of.
func (j *jobs) find(id crawl.JobID) (jobNum, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	n, ok := j.by[id]
	return n, ok
}

// among reports whether a job is one of those.
func (j *jobs) among(id crawl.JobID, of []jobNum) bool {
	n, ok := j.find(id)
	return ok && slices.Contains(of, n)
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
	if j.s.discarded.has(id) {
		return 0, fmt.Errorf("job %q: %w", id, crawl.ErrDiscarded)
	}
	if j.next > math.MaxUint32 {
		return 0, fmt.Errorf("job %q: the store has had %d jobs already", id, j.next)
	}
	n := jobNum(j.next)
	err := j.s.do(ctx, func(b *pebble.Batch) {
		_ = b.Set(stringKey(kindJob, string(id)), binary.BigEndian.AppendUint32(nil, uint32(n)), nil)
		_ = b.Set([]byte{kindJobNext}, binary.AppendUvarint(nil, j.next+1), nil)
	})
	if err == nil {
		j.add(id, n)
	}
	return n, err
}

// name returns the name of a job's number.
func (j *jobs) name(n jobNum) (crawl.JobID, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	id, ok := j.names[n]
	return id, ok
}

// all are the numbers of all jobs.
func (j *jobs) all() []jobNum {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return slices.Sorted(maps.Keys(j.names))
}

// forget forgets a job that is discarded.
func (j *jobs) forget(id crawl.JobID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.names, j.by[id])
	delete(j.by, id)
}
