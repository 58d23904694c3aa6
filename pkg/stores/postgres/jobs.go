package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Jobs are the jobs of the cluster, with their revisions. It caches a job for Config.JobExpiry; after that it notices a
// new revision or a deletion.
type Jobs struct {
	s     *Store
	mu    sync.Mutex
	lives map[crawl.JobID]life
	specs map[specKey]spec
}

type spec struct {
	job   *crawl.Job // nil: discarded
	until time.Time
}

func newJobs(s *Store) *Jobs {
	return &Jobs{s: s, lives: map[crawl.JobID]life{}, specs: map[specKey]spec{}}
}

var jobStates = []crawl.JobState{crawl.JobRunning, crawl.JobPaused, crawl.JobStopped, crawl.JobEnded}

// SetState says what a job is to do from now on. The job must be known.
func (j *Jobs) SetState(ctx context.Context, id crawl.JobID, state crawl.JobState) error {
	done, err := j.Turn(ctx, id, 0, state, jobStates...)
	if err == nil && !done {
		return unknownJob(id)
	}
	return err
}

// Turn gives a job another state where it is in one of some, at the given epoch (0: at any), and reports whether it
// was. So nobody who decides by what was read undoes what others, such as a person who pauses the job, said meanwhile.
func (j *Jobs) Turn(ctx context.Context, id crawl.JobID, epoch uint32, to crawl.JobState,
	from ...crawl.JobState) (done bool, err error) {
	if !slices.Contains(jobStates, to) {
		return false, crawl.Permanent(fmt.Errorf("job %q: no state is called %q", id, to))
	}
	err = j.s.do(ctx, fmt.Sprintf("job %q to be %s", id, to), func(ctx context.Context) error {
		const sql = `UPDATE jobs SET state = $2, ended = CASE WHEN $2 IN ('stopped', 'ended') THEN coalesce(ended, now()) END
			WHERE id = $1 AND deleted IS NULL AND state = ANY($3) AND ($4 = 0 OR epoch = $4)`
		tag, err := j.s.pool.Exec(ctx, sql, indexed(string(id)), string(to), from, int32(epoch))
		done = tag.RowsAffected() > 0
		return err
	})
	return done, err
}

// State returns what a job is to do, as it is now.
func (j *Jobs) State(ctx context.Context, id crawl.JobID) (crawl.JobState, error) {
	info, err := j.Info(ctx, id)
	return info.State, err
}

const infoSQL = `
	SELECT j.id, j.number, j.state, j.created, j.ended, j.epoch, coalesce(r.spec, j.spec)::text, j.deleted, j.first_epoch
	FROM jobs j LEFT JOIN job_revisions r ON r.job = j.number AND r.epoch = j.epoch `

// Info returns what the database knows of a job now.
func (j *Jobs) Info(ctx context.Context, id crawl.JobID) (info crawl.JobInfo, err error) {
	err = j.s.do(ctx, fmt.Sprintf("job %q", id), func(ctx context.Context) error {
		rows, err := j.s.pool.Query(ctx, infoSQL+`WHERE j.id = $1 AND NOT j.gone`, indexed(string(id)))
		if err != nil {
			return err
		}
		info, err = pgx.CollectExactlyOneRow(rows, scanJob)
		if errors.Is(err, pgx.ErrNoRows) {
			return unknownJob(id)
		}
		return errors.Join(err, info.Fault)
	})
	return info, err
}

// List returns all jobs, the oldest first, with those that are being deleted.
func (j *Jobs) List(ctx context.Context) (jobs []crawl.JobInfo, err error) {
	err = j.s.do(ctx, "list the jobs", func(ctx context.Context) error {
		rows, err := j.s.pool.Query(ctx, infoSQL+`WHERE NOT j.gone ORDER BY j.number`)
		if err != nil {
			return err
		}
		jobs, err = pgx.CollectRows(rows, scanJob)
		return err
	})
	return jobs, err
}

func scanJob(row pgx.CollectableRow) (crawl.JobInfo, error) {
	var info crawl.JobInfo
	var ended, deleted *time.Time
	var epoch, first int32
	var data *string
	if err := row.Scan(&info.ID, &info.Number, &info.State, &info.Created, &ended, &epoch, &data, &deleted,
		&first); err != nil {
		return info, err
	}
	if ended != nil {
		info.Ended = *ended
	}
	if deleted != nil {
		info.Deleted = *deleted
	}
	if data != nil {
		info.Job, info.Fault = decodeSpec(info.ID, *data, epoch, first)
	}
	return info, nil
}

func unknownJob(id crawl.JobID) error {
	return crawl.Permanent(fmt.Errorf("job %q is unknown to this database", id))
}

// jobLock is the advisory lock of whoever gives a job its number.
const jobLock = migrationLock + 1

// addPartition makes the job's partition of the attempts. Attaching lets others write to the table meanwhile, which
// creating it as a partition would not.
func addPartition(ctx context.Context, tx pgx.Tx, job int32) error {
	name := fmt.Sprintf("attempts_%d", job)
	for _, ddl := range []string{
		`CREATE TABLE ` + name + ` (LIKE attempts INCLUDING DEFAULTS)`,
		fmt.Sprintf(`ALTER TABLE attempts ATTACH PARTITION %s FOR VALUES IN (%d)`, name, job),
	} {
		if _, err := tx.Exec(ctx, ddl); err != nil {
			return fmt.Errorf("partition of job %d: %w", job, err)
		}
	}
	return nil
}
