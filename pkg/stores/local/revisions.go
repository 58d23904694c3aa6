package local

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Jobs keeps the jobs of the directory with all their revisions. These are few: all are in memory too.
type Jobs struct {
	s  *Store
	mu sync.RWMutex
	by map[crawl.JobID][]crawl.Revision // in the order of their epochs, which begin at 1
}

var _ crawl.JobStore = (*Jobs)(nil)

// Jobs returns the jobs.
func (s *Store) Jobs() *Jobs { return s.revisions }

// revision is how one is stored.
type revision struct {
	At  time.Time       `json:"at"`
	Job json.RawMessage `json:"job"`
}

//nolint:contextcheck // a local scan at opening: nothing cancels it
func openRevisions(s *Store) (*Jobs, error) {
	j := &Jobs{s: s, by: map[crawl.JobID][]crawl.Revision{}}
	err := s.scan(context.Background(), []byte{kindRevision}, func(k, v []byte) error {
		if len(k) != revisionKeyLen {
			return fmt.Errorf("revision %x in the state of %s: the state is damaged", k, s.dir)
		}
		var r revision
		err := json.Unmarshal(v, &r)
		if err != nil {
			return fmt.Errorf("revision %x in the state of %s: %w", k, s.dir, err)
		}
		job, err := crawl.DecodeJob(r.Job, binary.BigEndian.Uint32(k[jobEnd:]))
		if err != nil {
			return fmt.Errorf("the job of crawl directory %s: %w", s.dir, err)
		}
		j.by[job.ID] = append(j.by[job.ID], crawl.Revision{Job: job, At: r.At})
		return nil
	})
	return j, err
}

const revisionKeyLen = jobEnd + 4

func revisionKey(job jobNum, epoch uint32) []byte {
	return binary.BigEndian.AppendUint32(appendJob(nil, kindRevision, job), epoch)
}

// Job implements crawl.Jobs.
func (j *Jobs) Job(_ context.Context, id crawl.JobID) (*crawl.Job, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if rs := j.by[id]; len(rs) > 0 {
		return rs[len(rs)-1].Job, nil
	}
	if j.s.discarded.has(id) {
		return nil, fmt.Errorf("job %q: %w", id, crawl.ErrDiscarded)
	}
	return nil, crawl.Permanent(fmt.Errorf("job %q is unknown in %s", id, j.s.dir))
}

// JobAt implements crawl.Jobs.
func (j *Jobs) JobAt(_ context.Context, id crawl.JobID, epoch uint32) (*crawl.Job, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	rs := j.by[id]
	if n := int(crawl.EpochOf(epoch)) - 1; n < len(rs) {
		return rs[n].Job, nil
	}
	if j.s.discarded.has(id) {
		return nil, fmt.Errorf("job %q: %w", id, crawl.ErrDiscarded)
	}
	return nil, crawl.LostRevision(id, epoch)
}

// Known returns the jobs of the directory in the order of their ids.
func (j *Jobs) Known() []crawl.JobID {
	j.mu.RLock()
	defer j.mu.RUnlock()
	ids := make([]crawl.JobID, 0, len(j.by))
	for id := range j.by {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// forget forgets a job that is discarded.
func (j *Jobs) forget(id crawl.JobID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.by, id)
}

// Revisions implements crawl.JobStore.
func (j *Jobs) Revisions(_ context.Context, id crawl.JobID) ([]crawl.Revision, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return slices.Clone(j.by[id]), nil
}

// AddRevision implements crawl.JobStore. If the new rules may let in URLs that were excluded, it stores that a sweep is
// due.
func (j *Jobs) AddRevision(ctx context.Context, job *crawl.Job) (current *crawl.Job, added bool, err error) {
	return j.addRevision(ctx, job, nil)
}

// AddNext implements crawl.JobStore.
func (j *Jobs) AddNext(ctx context.Context, job *crawl.Job, epoch uint32) (*crawl.Job, bool, error) {
	return j.addRevision(ctx, job, &epoch)
}

func (j *Jobs) addRevision(ctx context.Context, job *crawl.Job,
	from *uint32) (current *crawl.Job, added bool, err error) {
	if err := job.Validate(); err != nil {
		return nil, false, crawl.Permanent(fmt.Errorf("job %q: %w", job.ID, err))
	}
	num, err := j.s.jobs.number(ctx, job.ID)
	if err != nil {
		return nil, false, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	rs := j.by[job.ID]
	if from != nil && int(*from) != len(rs) {
		return nil, false, crawl.Permanent(fmt.Errorf("job %q: %w", job.ID, crawl.ErrRevised))
	}
	var sweep []byte
	if n := len(rs); n > 0 {
		last := rs[n-1].Job
		if len(crawl.Changes(last, job)) == 0 {
			return last, false, nil
		}
		if err := crawl.CheckChange(last, job); err != nil {
			return nil, false, err
		}
		if sweep, err = j.sweepAfter(ctx, last, job, uint32(n+1)); err != nil {
			return nil, false, err
		}
	}
	next, value, err := encodeRevision(job, uint32(len(rs)+1))
	if err != nil {
		return nil, false, err
	}
	err = j.s.do(ctx, func(b *pebble.Batch) {
		_ = b.Set(revisionKey(num, next.Job.Epoch), value, nil)
		if sweep != nil {
			_ = b.Set(appendJob(nil, kindSweep, num), sweep, nil)
		}
	})
	if err != nil {
		return nil, false, fmt.Errorf("store revision %d of job %q: %w", next.Job.Epoch, job.ID, err)
	}
	j.by[job.ID] = append(rs[:len(rs):len(rs)], next)
	return next.Job, true, nil
}

// encodeRevision makes a revision of a job. Its Job is a copy, as the next program reads it out of value.
func encodeRevision(job *crawl.Job, epoch uint32) (next crawl.Revision, value []byte, err error) {
	data, err := crawl.EncodeJob(job)
	if err != nil {
		return next, nil, crawl.Permanent(err)
	}
	next.At = time.Now().UTC()
	if next.Job, err = crawl.DecodeJob(data, epoch); err != nil {
		return next, nil, crawl.Permanent(err)
	}
	value, err = json.Marshal(revision{At: next.At, Job: data})
	return next, value, err
}

// sweepAfter is the sweep's state once a revision has come: a sweep is due if it lets in more, or if one was under way.
func (j *Jobs) sweepAfter(ctx context.Context, last, next *crawl.Job, epoch uint32) ([]byte, error) {
	s, err := j.Sweep(ctx, next.ID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s.Next(last, next, epoch))
}

// Sweep implements crawl.JobStore.
func (j *Jobs) Sweep(_ context.Context, id crawl.JobID) (s crawl.Sweep, err error) {
	num, ok := j.s.jobs.find(id)
	if !ok {
		return s, nil
	}
	_, err = j.s.get(appendJob(nil, kindSweep, num), func(v []byte) error { return json.Unmarshal(v, &s) })
	if err != nil {
		err = fmt.Errorf("sweep of job %q: %w", id, err)
	}
	return s, err
}

// SetSweep implements crawl.JobStore.
func (j *Jobs) SetSweep(ctx context.Context, id crawl.JobID, s crawl.Sweep) error {
	j.mu.Lock() // not while a revision begins a sweep of its own
	defer j.mu.Unlock()
	num, ok := j.s.jobs.find(id)
	if !ok || len(j.by[id]) == 0 {
		return crawl.Permanent(fmt.Errorf("sweep of job %q: it is unknown in %s", id, j.s.dir))
	}
	if s.Epoch != uint32(len(j.by[id])) {
		return crawl.ErrSweepOver
	}
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return j.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(appendJob(nil, kindSweep, num), value, nil) })
}
