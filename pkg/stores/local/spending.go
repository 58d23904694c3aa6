package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Spending counts what jobs spend of their bounds.
type Spending struct {
	s  *Store
	mu *sync.Mutex // a count is read, changed and written
}

var _ crawl.Spending = Spending{}

// Spending returns what jobs spend of their bounds.
func (s *Store) Spending() Spending { return Spending{s, &s.spending} }

// spentRow is what is stored of a job: what it spent, and until when its time is counted, in nanoseconds since 1970.
type spentRow struct {
	crawl.Spent
	until int64
}

func (r *spentRow) encode() []byte {
	b := binary.AppendVarint(nil, r.Bytes)
	return binary.AppendVarint(binary.AppendVarint(b, int64(r.Time)), r.until)
}

func decodeSpent(v []byte) (r spentRow, err error) {
	var n [3]int64
	for i := range n {
		size := 0
		if n[i], size = binary.Varint(v); size <= 0 {
			return r, errors.New("the count is damaged")
		}
		v = v[size:]
	}
	return spentRow{crawl.Spent{Bytes: n[0], Time: time.Duration(n[1])}, n[2]}, nil
}

// Spend implements crawl.Spending.
func (p Spending) Spend(ctx context.Context, job crawl.JobID, bytes int64, now time.Time) (crawl.Spent, error) {
	number, err := p.s.jobs.number(ctx, job)
	if err != nil {
		return crawl.Spent{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.load(number)
	if err == nil {
		at := now.UnixNano()
		if gap := time.Duration(at - r.until); gap > 0 && gap <= crawl.SpendGap {
			r.Time += gap
		}
		r.Bytes, r.until = r.Bytes+bytes, max(r.until, at)
		err = p.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(appendJob(nil, kindSpent, number), r.encode(), nil) })
	}
	if err != nil {
		return crawl.Spent{}, fmt.Errorf("count what job %q spends: %w", job, err)
	}
	return r.Spent, nil
}

// Spent implements crawl.Spending.
func (p Spending) Spent(_ context.Context, job crawl.JobID) (crawl.Spent, error) {
	number, known := p.s.jobs.find(job)
	if !known {
		return crawl.Spent{}, nil
	}
	r, err := p.load(number)
	if err != nil {
		return crawl.Spent{}, fmt.Errorf("what job %q spent: %w", job, err)
	}
	return r.Spent, nil
}

func (p Spending) load(number jobNum) (r spentRow, err error) {
	_, err = p.s.get(appendJob(nil, kindSpent, number), func(v []byte) (err error) {
		r, err = decodeSpent(v)
		return err
	})
	return r, err
}
