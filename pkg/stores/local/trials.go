package local

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Trials keeps what is known of the hosts that topical jobs judge. Each call reads the store.
type Trials struct {
	s       *Store
	stripes stripes // by host
}

var _ crawl.HostTrials = (*Trials)(nil)

// Trials returns what is known of the hosts that topical jobs judge.
func (s *Store) Trials() *Trials { return s.trials }

func wrapTrial(host string, err error) error {
	if err != nil {
		err = fmt.Errorf("trial of host %s: %w", host, err)
	}
	return err
}

func (r *Trials) read(key []byte) (t crawl.HostTrial, err error) {
	_, err = r.s.get(key, func(v []byte) error { return crawl.DecodeValue(v, &t) })
	return t, err
}

// Trial implements crawl.HostTrials.
func (r *Trials) Trial(_ context.Context, job crawl.JobID, host string) (t crawl.HostTrial, err error) {
	number, known := r.s.jobs.find(job)
	if !known {
		return t, nil
	}
	t, err = r.read(append(appendJob(nil, kindTrial, number), host...))
	return t, wrapTrial(host, err)
}

// ChangeTrial implements crawl.HostTrials.
func (r *Trials) ChangeTrial(ctx context.Context, job crawl.JobID, host string,
	change func(*crawl.HostTrial) bool) (t crawl.HostTrial, err error) {
	number, err := r.s.jobs.number(ctx, job)
	if err != nil {
		return t, wrapTrial(host, err)
	}
	key := append(appendJob(nil, kindTrial, number), host...)
	defer r.stripes.lock([]byte{byte(xxh3.Hash(key))})()
	if t, err = r.read(key); err != nil {
		return t, wrapTrial(host, err)
	}
	if !change(&t) {
		t, err = r.read(key) // change may have changed it
		return t, wrapTrial(host, err)
	}
	v, err := crawl.EncodeValue(&t)
	if err == nil {
		err = r.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(key, v, nil) })
	}
	return t, wrapTrial(host, err)
}
