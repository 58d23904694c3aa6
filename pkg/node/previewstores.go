package node

import (
	"context"
	"math"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Preview tells what an edit of a job would do: at once by a sample, then exactly. The last answer is exact. tell must
// not keep what it is given, nor wait. flying are the job's leases.
func Preview(ctx context.Context, s *local.Store, next *crawl.Job, flying []crawl.Task,
	tell func(*preview.Answer)) error {
	return previewOf(ctx, surveyedIn(s), next, flying, tell)
}

// surveyedIn are the stores of a directory.
func surveyedIn(s *local.Store) *surveyed {
	return &surveyed{jobs: s.Jobs(), tally: s.URLs().Tally, queued: s.EachQueued, leftOut: s.EachLeftOut,
		log: func(ctx context.Context, id crawl.JobID) (crawl.LogList, error) {
			if s.Many() {
				return s.JobLog(ctx, id)
			}
			return s.AttemptLog(), nil
		}}
}

// PreviewCluster is Preview of a job of a cluster. Which of its URLs are leased, only the frontiers know: they count as
// queued, and what their edit would drop is dropped only if its turn has not come.
func PreviewCluster(ctx context.Context, s *postgres.Store, next *crawl.Job, tell func(*preview.Answer)) error {
	return previewOf(ctx, &surveyed{jobs: s.Jobs(), tally: s.URLs().Tally, queued: s.URLs().EachQueued,
		leftOut: s.URLs().EachLeftOut,
		log:     func(context.Context, crawl.JobID) (crawl.LogList, error) { return s.AttemptLog(), nil }}, next, nil, tell)
}

// surveyed is what a preview walks: the stores of a directory, or those of a cluster.
type surveyed struct {
	jobs interface {
		crawl.Jobs
		Sweep(ctx context.Context, id crawl.JobID) (crawl.Sweep, error)
	}
	tally   func(context.Context, crawl.JobID) (crawl.Tally, error)
	queued  func(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool, each func(*crawl.Task) error) error
	leftOut func(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool, each func(*crawl.LeftOut) error) error
	log     func(context.Context, crawl.JobID) (crawl.LogList, error)
}

// endOf is where a log ends. A file says so where it has no line; the log of a cluster has a word for it.
func endOf(ctx context.Context, log crawl.LogList, id crawl.JobID) (int64, error) {
	if l, is := log.(interface {
		End(ctx context.Context, id crawl.JobID) (int64, error)
	}); is {
		return l.End(ctx, id)
	}
	_, end, err := log.LinesFrom(ctx, id, math.MaxInt64, 1)
	return end, err
}
