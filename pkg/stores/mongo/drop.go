package mongo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Drop removes the records of a job, of all its lives, those that were set aside, and its kept bodies. It returns the
// number of records of the present life as Count knows it; -1 if the server keeps no count.
func (s *Store) Drop(ctx context.Context, job crawl.JobID) (records int64, err error) {
	records, err = s.Job(job).Count(ctx)
	if errors.Is(err, ErrNoCount) {
		records, err = -1, nil
	}
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := s.dropAll(ctx, job); err != nil {
		return 0, fmt.Errorf("delete the records of job %s from mongodb: %w", job, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.indexed, func(l life, _ time.Time) bool { return l.job == job })
	return records, nil
}

// dropAll drops all collections of a job.
func (s *Store) dropAll(ctx context.Context, job crawl.JobID) error {
	names, err := s.db.ListCollectionNames(ctx, bson.D{})
	for _, name := range names {
		for _, prefix := range []string{collectionPrefix, bodiesPrefix} {
			if rest, ok := strings.CutPrefix(name, prefix); ok && nameOf(rest, job) {
				err = errors.Join(err, s.db.Collection(name).Drop(ctx))
			}
		}
	}
	return err
}
