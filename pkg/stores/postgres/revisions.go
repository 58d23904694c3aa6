package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var _ crawl.JobStore = (*Jobs)(nil)

// specKey names a revision of a job; epoch 0 is the one that applies.
type specKey struct {
	id    crawl.JobID
	epoch uint32
}

// specSQL selects a revision: $2 is its epoch; null selects the current one. A job submitted by a program of the
// version before may have no revisions yet.
const specSQL = `
	SELECT coalesce($2, j.epoch), j.first_epoch, j.deleted IS NOT NULL, coalesce(r.spec, CASE WHEN coalesce($2, j.epoch) = j.epoch THEN j.spec END)::text
	FROM jobs j LEFT JOIN job_revisions r ON r.job = j.number AND r.epoch = coalesce($2, j.epoch) WHERE j.id = $1`

// Job implements crawl.Jobs. A job that nobody submitted is a permanent error.
func (j *Jobs) Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error) {
	job, err := j.spec(ctx, specKey{id: id})
	if err == nil && job == nil {
		err = crawl.Permanent(fmt.Errorf("job %q was never submitted to this database", id))
	}
	return job, err
}

// JobAt implements crawl.Jobs.
func (j *Jobs) JobAt(ctx context.Context, id crawl.JobID, epoch uint32) (*crawl.Job, error) {
	job, err := j.spec(ctx, specKey{id, crawl.EpochOf(epoch)})
	if err == nil && job == nil {
		err = crawl.LostRevision(id, epoch)
	}
	return job, err
}

// maxSpecs is how many revisions, over all jobs, are remembered. When there are more all are read again.
const maxSpecs = 1024

// spec returns a revision; nil where there is none. It is the same value as long as it says the same.
func (j *Jobs) spec(ctx context.Context, key specKey) (*crawl.Job, error) {
	j.mu.Lock()
	known, ok := j.specs[key]
	j.mu.Unlock()
	if now := time.Now(); ok && now.Before(known.until) {
		if known.job == nil {
			return nil, discarded(key.id)
		}
		return known.job, nil
	}
	asked := time.Now()
	job, err := j.read(ctx, key)
	if gone := errors.Is(err, crawl.ErrDiscarded); !gone && (err != nil || job == nil) {
		return nil, err
	}
	if ok && reflect.DeepEqual(known.job, job) {
		job = known.job
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.specs) >= maxSpecs {
		clear(j.specs)
	}
	j.specs[key] = spec{job: job, until: asked.Add(j.s.cfg.JobExpiry)}
	return job, err
}

func (j *Jobs) read(ctx context.Context, key specKey) (job *crawl.Job, err error) {
	err = j.s.do(ctx, fmt.Sprintf("job %q", key.id), func(ctx context.Context) error {
		job, err = revisionOf(ctx, j.s.pool, key)
		return err
	})
	return job, err
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func revisionOf(ctx context.Context, q rowQuerier, key specKey) (*crawl.Job, error) {
	var asked *int32
	if key.epoch > 0 {
		e := int32(key.epoch)
		asked = &e
	}
	var epoch, first int32
	var dead bool
	var data *string
	err := q.QueryRow(ctx, specSQL, indexed(string(key.id)), asked).Scan(&epoch, &first, &dead, &data)
	if err == nil && (dead || epoch < first) {
		return nil, discarded(key.id)
	}
	if errors.Is(err, pgx.ErrNoRows) || err == nil && data == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeSpec(key.id, *data, epoch, first)
}

// decodeSpec decodes a stored specification. Its errors are not permanent: if this program is too old for it, another
// program handles the message.
func decodeSpec(id crawl.JobID, data string, epoch, first int32) (*crawl.Job, error) {
	job, err := crawl.DecodeJob([]byte(data), uint32(epoch))
	if err != nil {
		return nil, fmt.Errorf("specification of job %q: %w", id, err)
	}
	if first > 1 {
		job.First = uint32(first)
	}
	return job, nil
}

// Current returns the revision of a job that applies, as it is at this moment; false where nobody submitted the job.
func (j *Jobs) Current(ctx context.Context, id crawl.JobID) (*crawl.Job, bool, error) {
	job, err := j.read(ctx, specKey{id: id})
	if errors.Is(err, crawl.ErrDiscarded) {
		return nil, false, nil
	}
	return job, job != nil && err == nil, err
}

// Put is AddRevision for those who do not ask what became of it.
func (j *Jobs) Put(ctx context.Context, job *crawl.Job) error {
	_, _, err := j.AddRevision(ctx, job)
	return err
}

// NextOf are the jobs for one who makes a revision of what was read of a job at an epoch: AddRevision is AddNext.
type NextOf struct {
	*Jobs
	Epoch uint32
}

// AddRevision implements crawl.JobStore.
func (f NextOf) AddRevision(ctx context.Context, job *crawl.Job) (*crawl.Job, bool, error) {
	return f.AddNext(ctx, job, f.Epoch)
}

// AddNext implements crawl.JobStore.
func (j *Jobs) AddNext(ctx context.Context, job *crawl.Job, epoch uint32) (*crawl.Job, bool, error) {
	current, added, err := j.addRevision(ctx, job, &epoch)
	if epoch > 0 && errors.Is(err, crawl.ErrDiscarded) {
		err = crawl.Permanent(fmt.Errorf("%w: %w", crawl.ErrRevised, err))
	}
	if errors.Is(err, crawl.ErrRevised) {
		j.forget(job.ID)
	}
	return current, added, err
}

// AddRevision implements crawl.JobStore. A new job runs; number and state of one that was submitted stay.
func (j *Jobs) AddRevision(ctx context.Context, job *crawl.Job) (current *crawl.Job, added bool, err error) {
	return j.addRevision(ctx, job, nil)
}

func (j *Jobs) addRevision(ctx context.Context, job *crawl.Job,
	from *uint32) (current *crawl.Job, added bool, err error) {
	if err := job.Validate(); err != nil {
		return nil, false, crawl.Permanent(fmt.Errorf("submit job %q: %w", job.ID, err))
	}
	err = j.s.do(ctx, fmt.Sprintf("submit job %q", job.ID), func(ctx context.Context) error {
		if from == nil || *from == 0 { // a job that was deleted gets no other life by a revision of the last one
			if err := j.revive(ctx, job.ID); err != nil {
				return err
			}
		}
		j.forgetLife(job.ID)
		number, err := j.number(ctx, job.ID)
		if err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, j.s.pool, func(tx pgx.Tx) error {
			current, added, err = addRevision(ctx, tx, number, job, from)
			return err
		})
	})
	if err != nil {
		return nil, false, err
	}
	j.forget(job.ID)
	return current, added, nil
}

func addRevision(ctx context.Context, tx pgx.Tx, number int32, job *crawl.Job, from *uint32) (*crawl.Job, bool, error) {
	first, sweep, err := lockJob(ctx, tx, number)
	if err != nil {
		return nil, false, err
	}
	last, err := revisionOf(ctx, tx, specKey{id: job.ID})
	if err != nil {
		return nil, false, err
	}
	if from != nil && (last == nil) != (*from == 0) || from != nil && last != nil && last.Epoch != *from {
		return nil, false, crawl.Permanent(crawl.ErrRevised)
	}
	epoch := first
	if last != nil {
		if len(crawl.Changes(last, job)) == 0 {
			return last, false, nil
		}
		if err := crawl.CheckChange(last, job); err != nil {
			return nil, false, err
		}
		epoch = last.Epoch + 1
		sweep = sweep.Next(last, job, epoch)
	}
	next, err := storeRevision(ctx, tx, number, job, epoch, sweep)
	if err != nil {
		return nil, false, err
	}
	if next.First = 0; first > 1 {
		next.First = first
	}
	return next, true, nil
}

// storeRevision makes job the current revision. What it returns is a copy, as the next program reads it.
func storeRevision(ctx context.Context, tx pgx.Tx, number int32, job *crawl.Job, epoch uint32,
	sweep crawl.Sweep) (*crawl.Job, error) {
	data, err := crawl.EncodeJob(job)
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	next, err := crawl.DecodeJob(data, epoch)
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	before, err := crawl.EncodeJobBefore(job)
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO job_revisions (job, epoch, spec) VALUES ($1, $2, $3)
		ON CONFLICT (job, epoch) DO UPDATE SET spec = excluded.spec`, number, int32(epoch), string(data)); err != nil {
		return nil, err
	}
	state, err := json.Marshal(sweep)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `UPDATE jobs SET spec = $2, epoch = $3, sweep = $4 WHERE number = $1`,
		number, string(before), int32(epoch), string(state))
	return next, err
}

// lockJob keeps others from revising a job until the transaction ends, and returns the state of its sweep.
func lockJob(ctx context.Context, tx pgx.Tx, number int32) (first uint32, s crawl.Sweep, err error) {
	var state *string
	var epoch int32
	if err := tx.QueryRow(ctx, `SELECT first_epoch, sweep::text FROM jobs WHERE number = $1 FOR UPDATE`,
		number).Scan(&epoch, &state); err != nil || state == nil {
		return uint32(epoch), s, err
	}
	return uint32(epoch), s, json.Unmarshal([]byte(*state), &s)
}

// Revisions implements crawl.JobStore.
func (j *Jobs) Revisions(ctx context.Context, id crawl.JobID) (list []crawl.Revision, err error) {
	err = j.s.do(ctx, fmt.Sprintf("revisions of job %q", id), func(ctx context.Context) error {
		const sql = `SELECT r.epoch, j.first_epoch, r.at, r.spec::text FROM job_revisions r JOIN jobs j ON j.number = r.job
			WHERE j.id = $1 AND j.deleted IS NULL ORDER BY r.epoch`
		rows, err := j.s.pool.Query(ctx, sql, indexed(string(id)))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r crawl.Revision, err error) {
			var epoch, first int32
			var data string
			if err = row.Scan(&epoch, &first, &r.At, &data); err == nil {
				r.Job, err = decodeSpec(id, data, epoch, first)
			}
			return r, err
		})
		return err
	})
	return list, err
}

// Epochs returns the epochs of the current revisions of all jobs in one query. 0: the job was deleted, or is being
// deleted.
func (j *Jobs) Epochs(ctx context.Context) (epochs map[crawl.JobID]uint32, err error) {
	err = j.s.do(ctx, "epochs of the jobs", func(ctx context.Context) error {
		rows, err := j.s.pool.Query(ctx,
			`SELECT id, CASE WHEN deleted IS NULL THEN epoch ELSE 0 END FROM jobs WHERE spec IS NOT NULL OR deleted IS NOT NULL`)
		if err != nil {
			return err
		}
		epochs = map[crawl.JobID]uint32{}
		var id crawl.JobID
		var epoch int32
		_, err = pgx.ForEachRow(rows, []any{&id, &epoch}, func() error { epochs[id] = uint32(epoch); return nil })
		return err
	})
	return epochs, err
}

// Refresh makes the next look at a job see its last revision.
func (j *Jobs) Refresh(id crawl.JobID) { j.forgetLife(id) }

func (j *Jobs) forget(id crawl.JobID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.specs, specKey{id: id})
}

// Sweep implements crawl.JobStore.
func (j *Jobs) Sweep(ctx context.Context, id crawl.JobID) (s crawl.Sweep, err error) {
	err = j.s.do(ctx, fmt.Sprintf("sweep of job %q", id), func(ctx context.Context) error {
		var state *string
		err := j.s.pool.QueryRow(ctx, `SELECT sweep::text FROM jobs WHERE id = $1`, indexed(string(id))).Scan(&state)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && state == nil {
			return nil
		}
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(*state), &s)
	})
	return s, err
}

// SetSweep implements crawl.JobStore.
func (j *Jobs) SetSweep(ctx context.Context, id crawl.JobID, s crawl.Sweep) error {
	state, err := json.Marshal(s)
	if err != nil {
		return crawl.Permanent(err)
	}
	return j.s.do(ctx, fmt.Sprintf("sweep of job %q", id), func(ctx context.Context) error {
		tag, err := j.s.pool.Exec(ctx, `UPDATE jobs SET sweep = $3 WHERE id = $1 AND epoch = $2 AND deleted IS NULL`,
			indexed(string(id)), int32(s.Epoch), string(state))
		if err == nil && tag.RowsAffected() == 0 {
			return crawl.ErrSweepOver
		}
		return err
	})
}

// sweepLock and the number of a job are the advisory lock of whoever sweeps it.
const sweepLock = 0x57485357 // WHSW in ASCII

// Sweeping runs sweep while nobody else sweeps the job; ran is false where somebody does.
func (j *Jobs) Sweeping(ctx context.Context, id crawl.JobID, sweep func(context.Context) error) (ran bool, err error) {
	number, known, err := j.find(ctx, id)
	if err != nil || !known {
		return false, err
	}
	conn, err := j.s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, $2)`, int32(sweepLock), number).Scan(&ran); err != nil ||
		!ran {
		return false, err
	}
	defer func() {
		if _, e := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1, $2)`, int32(sweepLock),
			number); e != nil {
			_ = conn.Conn().Close(context.WithoutCancel(ctx)) // the lock goes with it
		}
	}()
	return true, sweep(ctx)
}
