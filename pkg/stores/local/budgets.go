package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Budgets counts what was spent. Counts in use are kept in memory and written with the next group of the committer, so
// a crash forgets at most a second's.
type Budgets struct {
	s     *Store
	mu    sync.Mutex
	spent map[string]uint64 // by key in the database
}

var _ crawl.Budgets = (*Budgets)(nil)

// maxBudgets bounds the counts in memory (about 10 MB).
const maxBudgets = 1 << 16

func newBudgets(s *Store) *Budgets { return &Budgets{s: s, spent: map[string]uint64{}} }

// Budgets returns the allowances.
func (s *Store) Budgets() *Budgets { return s.budgets }

// Spend implements crawl.Budgets.
func (b *Budgets) Spend(ctx context.Context, job crawl.JobID, key string, n, limit int) (granted int, err error) {
	num, err := b.s.jobs.number(ctx, job)
	if err != nil {
		return 0, err
	}
	k := append(appendJob(make([]byte, 0, jobEnd+len(key)), kindBudget, num), key...)
	b.mu.Lock()
	defer b.mu.Unlock()
	spent, err := b.load(k)
	if err != nil {
		return 0, fmt.Errorf("budget %q of job %q: %w", key, job, err)
	}
	if n <= 0 || limit <= 0 || spent >= uint64(limit) {
		return 0, nil
	}
	granted = int(min(uint64(n), uint64(limit)-spent))
	spent += uint64(granted)
	b.spent[string(k)] = spent
	return granted, b.s.later(func(batch *pebble.Batch) { _ = batch.Set(k, binary.AppendUvarint(nil, spent), nil) })
}

// load returns what was spent under a key, with mu held.
func (b *Budgets) load(k []byte) (spent uint64, err error) {
	if v, ok := b.spent[string(k)]; ok {
		return v, nil
	}
	if len(b.spent) >= maxBudgets {
		if err := b.s.flush(); err != nil { // what is forgotten here must be found there
			return 0, err
		}
		clear(b.spent)
	}
	_, err = b.s.get(k, func(v []byte) error {
		var size int
		if spent, size = binary.Uvarint(v); size <= 0 {
			return errors.New("the count is damaged")
		}
		return nil
	})
	if err == nil {
		b.spent[string(k)] = spent
	}
	return spent, err
}

// forget forgets the counts of a job that is discarded.
func (b *Budgets) forget(job jobNum) {
	b.mu.Lock()
	defer b.mu.Unlock()
	head := string(appendJob(nil, kindBudget, job))
	for k := range b.spent {
		if strings.HasPrefix(k, head) {
			delete(b.spent, k)
		}
	}
}
