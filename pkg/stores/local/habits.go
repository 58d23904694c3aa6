package local

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

func makeHabitsKey(job jobNum, host uint64) []byte {
	return binary.BigEndian.AppendUint64(appendJob(nil, kindHabits, job), host)
}

// Habits implements crawl.Revisits.
func (r Revisits) Habits(_ context.Context, job crawl.JobID, hosts ...uint64) ([]revisit.Habits, error) {
	out := make([]revisit.Habits, len(hosts))
	number, known := r.s.jobs.find(job)
	if !known {
		return out, nil
	}
	keys := make([][]byte, len(hosts))
	for i, h := range hosts {
		keys[i] = makeHabitsKey(number, h)
	}
	err := r.s.getAll(keys, func(i int, v []byte) (err error) {
		if out[i], err = revisit.DecodeHabits(v); err != nil {
			err = fmt.Errorf("what was learned of host %016x: %w", hosts[i], err)
		}
		return err
	})
	return out, err
}

// PutHabits implements crawl.Revisits.
func (r Revisits) PutHabits(ctx context.Context, job crawl.JobID, hs ...crawl.HostHabits) error {
	if len(hs) == 0 {
		return nil
	}
	number, err := r.s.jobs.number(ctx, job)
	if err == nil {
		err = r.s.do(ctx, func(b *pebble.Batch) {
			for i := range hs {
				_ = b.Set(makeHabitsKey(number, hs[i].Host), hs[i].Append(nil), nil) //nolint:staticcheck // named, so that a reader sees what it is
			}
		})
	}
	if err != nil {
		return fmt.Errorf("store what was learned of %d hosts: %w", len(hs), err)
	}
	return nil
}
