package crawl

import (
	"context"
	"sync"
)

// PerRevision caches what a stage derives from a revision of a job, such as compiled rules. It keeps the most recently
// used ones: tasks of several revisions of one job may be on their way at the same time.
type PerRevision[T any] struct {
	jobs Jobs
	make func(*Job) (T, error)

	mu   sync.RWMutex
	kept map[revisionKey]madeOf[T]
}

type revisionKey struct {
	id    JobID
	epoch uint32
}

// madeOf is what was made of a job. A job that was deleted and submitted again is another value.
type madeOf[T any] struct {
	job *Job
	of  T
}

// maxRevisions is how many revisions, over all jobs, are kept. When there are more all are made again.
const maxRevisions = 256

// NewPerRevision returns an empty one. Errors of build are not kept.
func NewPerRevision[T any](jobs Jobs, build func(*Job) (T, error)) *PerRevision[T] {
	return &PerRevision[T]{jobs: jobs, make: build, kept: map[revisionKey]madeOf[T]{}}
}

// At returns the job as it was in an epoch, and what is made of it.
func (p *PerRevision[T]) At(ctx context.Context, id JobID, epoch uint32) (*Job, T, error) {
	job, err := p.jobs.JobAt(ctx, id, epoch)
	if err != nil {
		var none T
		return nil, none, err
	}
	of, err := p.Of(job)
	return job, of, err
}

// Of returns what is made of a revision.
func (p *PerRevision[T]) Of(job *Job) (T, error) {
	key := revisionKey{job.ID, EpochOf(job.Epoch)}
	p.mu.RLock()
	known, ok := p.kept[key]
	p.mu.RUnlock()
	if ok && known.job == job {
		return known.of, nil
	}
	of, err := p.make(job)
	if err != nil {
		return of, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxRevisions {
		clear(p.kept)
	}
	p.kept[key] = madeOf[T]{job, of}
	return of, nil
}
