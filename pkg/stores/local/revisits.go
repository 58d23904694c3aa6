package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Revisits is what is remembered of pages between their visits: for each page its state, and beside it, if it is due
// at some time, an entry in the bucket of that time, with the state once more and the URL. The order of the entries
// is that of time, so what is due is in front and is read at one go; within a bucket it is that of the URLs'
// keys. Both are written in one batch, so they agree.
type Revisits struct {
	s *Store
	*revisitState
}

// revisitState is what the Revisits of a store share.
type revisitState struct {
	locks  stripes
	fronts fronts
	given  given
}

var _ crawl.Revisits = Revisits{}

// Revisits returns what is remembered of pages between their visits.
func (s *Store) Revisits() Revisits { return Revisits{s, &s.revisits} }

func makeRevisitKey(job jobNum, k weburl.Key) []byte {
	return append(appendJob(nil, kindRevisit, job), k[:]...)
}

// makeDueKey is the key of a page's entry in the bucket of its due time.
func makeDueKey(job jobNum, due time.Time, k weburl.Key) []byte {
	b := binary.BigEndian.AppendUint32(appendJob(nil, kindDue, job), revisit.Bucket(due))
	return append(b, k[:]...)
}

// Put implements crawl.Revisits.
func (r Revisits) Put(ctx context.Context, job crawl.JobID, rs ...crawl.Revisit) error {
	number, err := r.s.jobs.number(ctx, job)
	if err == nil && len(rs) > 0 {
		err = r.put(ctx, number, rs)
	}
	if err != nil {
		return fmt.Errorf("remember %d pages between their visits: %w", len(rs), err)
	}
	return nil
}

func (r Revisits) put(ctx context.Context, job jobNum, rs []crawl.Revisit) error {
	keys, index := make([]weburl.Key, 0, len(rs)), make(map[weburl.Key]int, len(rs))
	last := make([]crawl.Revisit, 0, len(rs))
	for _, p := range rs {
		k := p.URL.Key()
		if i, twice := index[k]; twice {
			if p.Visits >= last[i].Visits {
				last[i] = p
			}
			continue
		}
		index[k] = len(keys)
		keys, last = append(keys, k), append(last, p)
	}
	defer r.lock(keys)()
	before, err := r.statesBefore(job, keys)
	if err != nil {
		return err
	}
	defer r.given.put(job, keys)
	var front []byte // the first bucket entry that is written
	err = r.s.do(ctx, func(b *pebble.Batch) {
		var buf [revisit.StateSize]byte
		for i, p := range last {
			if p.Visits < before[i].Visits {
				continue
			}
			state := p.State.Append(buf[:0]) //nolint:staticcheck // named, so that a reader sees what it is
			due := rebucket(b, job, keys[i], before[i].Due, p.URL, state)
			if due != nil && (front == nil || bytes.Compare(due, front) < 0) {
				front = due
			}
			_ = b.Set(makeRevisitKey(job, keys[i]), state, nil)
		}
	})
	if front != nil {
		r.fronts.put(job, front)
	}
	return err
}

// rebucket takes a page out of the bucket in which it was and puts it into that in which it is due; it returns its key
// there, nil for none.
func rebucket(b *pebble.Batch, job jobNum, k weburl.Key, was time.Time, u weburl.URL, state []byte) (due []byte) {
	// What is read again is what counts: a state is stored with times that are moved to its bounds.
	stored, err := revisit.DecodeState(state)
	if err == nil && !stored.Due.IsZero() {
		due = makeDueKey(job, stored.Due, k)
	}
	if !was.IsZero() {
		if old := makeDueKey(job, was, k); !bytes.Equal(old, due) {
			_ = b.Delete(old, nil)
		}
	}
	if due != nil {
		_ = b.Set(due, append(state[:len(state):len(state)], u.String()...), nil)
	}
	return due
}

func (r Revisits) lock(keys []weburl.Key) (unlock func()) {
	hashes := make([]byte, len(keys))
	for i, k := range keys {
		hashes[i] = k[len(k)-1]
	}
	return r.locks.lock(hashes)
}

// States implements crawl.Revisits.
func (r Revisits) States(_ context.Context, job crawl.JobID, keys ...weburl.Key) ([]revisit.State, error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return make([]revisit.State, len(keys)), nil
	}
	return r.states(number, keys)
}

func (r Revisits) states(job jobNum, keys []weburl.Key) ([]revisit.State, error) {
	out, entries := make([]revisit.State, len(keys)), make([][]byte, len(keys))
	for i, k := range keys {
		entries[i] = makeRevisitKey(job, k)
	}
	err := r.s.getAll(entries, func(i int, v []byte) (err error) {
		if out[i], err = revisit.DecodeState(v); err != nil {
			err = fmt.Errorf("what is remembered of URL %s: %w", keys[i], err)
		}
		return err
	})
	return out, err
}

// statesBefore are the states of pages whose locks are held.
func (r Revisits) statesBefore(job jobNum, keys []weburl.Key) ([]revisit.State, error) {
	out := make([]revisit.State, len(keys))
	var unknown []int
	var asked []weburl.Key
	for i, k := range keys {
		var known bool
		if out[i], known = r.given.take(job, k); !known {
			unknown, asked = append(unknown, i), append(asked, k)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	read, err := r.states(job, asked)
	if err != nil {
		return nil, err
	}
	for n, i := range unknown {
		out[i] = read[n]
	}
	return out, nil
}

// Drop implements crawl.Revisits.
func (r Revisits) Drop(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	number, known := r.s.jobs.find(job)
	if !known || len(keys) == 0 {
		return nil
	}
	defer r.lock(keys)()
	defer r.given.put(number, keys)
	before, err := r.states(number, keys)
	if err == nil {
		err = r.s.do(ctx, func(b *pebble.Batch) {
			for i, k := range keys {
				_ = b.Delete(makeRevisitKey(number, k), nil)
				if !before[i].Due.IsZero() {
					_ = b.Delete(makeDueKey(number, before[i].Due, k), nil)
				}
			}
		})
	}
	if err != nil {
		return fmt.Errorf("forget %d pages between their visits: %w", len(keys), err)
	}
	return nil
}

// Each implements crawl.Revisits, over what is stored at this moment.
func (r Revisits) Each(ctx context.Context, job crawl.JobID, each func(weburl.Key, revisit.State) error) error {
	number, known := r.s.jobs.find(job)
	if !known {
		return nil
	}
	err := scanRange(ctx, r.s.db, appendJob(nil, kindRevisit, number), afterJob(kindRevisit, number),
		func(k, v []byte) error {
			s, err := revisit.DecodeState(v)
			if err != nil || len(k) != urlKeyLen {
				return fmt.Errorf("what is remembered of URL %x: %w", k, errors.Join(err, errEntry))
			}
			return each((*urlKey)(k).key(), s)
		})
	if err != nil {
		return fmt.Errorf("read what is remembered of pages between their visits: %w", err)
	}
	return nil
}
