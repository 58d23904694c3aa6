package mongo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Drop removes the records of a job, those that were set aside, and its kept bodies. It returns the number of records
// as Count knows it; -1 if the server keeps no count.
func (s *Store) Drop(ctx context.Context, job crawl.JobID) (records int64, err error) {
	j := s.Job(job)
	records, err = j.Count(ctx)
	if errors.Is(err, ErrNoCount) {
		records, err = -1, nil
	}
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := errors.Join(j.coll.Drop(ctx), s.bodies(job).Drop(ctx), s.db.Collection(j.coll.Name()+asideSuffix).Drop(ctx)); err != nil {
		return 0, fmt.Errorf("delete the records of job %s from mongodb: %w", job, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexed[job] = time.Time{}
	return records, nil
}
