package mongo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// life is a life of a job: see Config.Life. Its records are in a collection of its own. So a record that a handler of a
// former life stores late, however late, is in a collection that nobody reads, and that the next deletion removes.
type life struct {
	job crawl.JobID
	n   uint32
}

// name is behind the prefix of the names of its collections. The id of a job has no dot.
func (l life) name() string {
	if l.n == 0 {
		return string(l.job)
	}
	return string(l.job) + "." + strconv.FormatUint(uint64(l.n), 10)
}

// nameOf reports whether a collection's name, without its prefix, is that of a life of a job, or of what was set aside.
func nameOf(name string, job crawl.JobID) bool {
	rest, ok := strings.CutPrefix(name, string(job))
	return ok && (rest == "" || strings.HasPrefix(rest, "."))
}

// life returns the life of a job that ctx means.
func (s *Store) life(ctx context.Context, job crawl.JobID) (l life, err error) {
	l.job = job
	if s.cfg.Life != nil {
		l.n, err = s.cfg.Life(ctx, job)
	}
	if err != nil {
		return l, fmt.Errorf("records of job %s: %w", job, err)
	}
	return l, nil
}

func (s *Store) collection(l life) *mongo.Collection {
	return s.db.Collection(collectionPrefix + l.name())
}

func (s *Store) bodies(l life) *mongo.Collection {
	return s.db.Collection(bodiesPrefix + l.name())
}
