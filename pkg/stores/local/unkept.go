package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Unkept is why pages that were fetched have no record.
type Unkept struct{ s *Store }

var _ crawl.Unkept = Unkept{}

// Unkept returns why pages that were fetched have no record.
func (s *Store) Unkept() Unkept { return Unkept{s} }

func makeUnkeptKey(job jobNum, k weburl.Key) []byte {
	return append(appendJob(nil, kindUnkept, job), k[:]...)
}

// Note implements crawl.Unkept.
func (u Unkept) Note(ctx context.Context, job crawl.JobID, url weburl.URL, reason string) error {
	if reason == "" {
		return crawl.Permanent(errors.New("note why " + url.String() + " has no record: no reason was given"))
	}
	number, err := u.s.jobs.number(ctx, job)
	if err == nil {
		err = u.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(makeUnkeptKey(number, url.Key()), []byte(reason), nil) })
	}
	if err != nil {
		return fmt.Errorf("note why %s has no record: %w", url, err)
	}
	return nil
}

// Reasons implements crawl.Unkept.
func (u Unkept) Reasons(_ context.Context, job crawl.JobID, keys ...weburl.Key) ([]string, error) {
	out := make([]string, len(keys))
	number, known := u.s.jobs.find(job)
	if !known {
		return out, nil
	}
	entries := make([][]byte, len(keys))
	for i, k := range keys {
		entries[i] = makeUnkeptKey(number, k)
	}
	err := u.s.getAll(entries, func(i int, v []byte) error {
		out[i] = string(v)
		return nil
	})
	return out, err
}
