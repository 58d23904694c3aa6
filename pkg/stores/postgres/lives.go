package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// life is a job between its submission and its deletion.
type life struct {
	number  int32
	first   uint32 // epoch
	records uint32 // see Jobs.RecordLife
	created time.Time
	dead    bool // it was deleted, or is being deleted
	until   time.Time
}

// discarded names the job that was deleted.
func discarded(id crawl.JobID) error { return fmt.Errorf("job %q: %w", id, crawl.ErrDiscarded) }

// lifeSQL also tells on how many servers the ledger is: a program that was started before it was spread must not write
// to this one what belongs to another.
const lifeSQL = `SELECT number, first_epoch, record_life, created, deleted IS NOT NULL, coalesce((SELECT servers FROM ledger_servers WHERE place = 0), 0)
	FROM jobs WHERE id = $1`

// life returns the present life of a job; false where nobody has ever heard of it.
func (j *Jobs) life(ctx context.Context, id crawl.JobID) (l life, known bool, err error) {
	if l, known = j.believed(id); known {
		return l, true, nil
	}
	asked := time.Now()
	l = life{}
	var servers int
	err = j.s.pool.QueryRow(ctx, lifeSQL, indexed(string(id))).Scan(&l.number, &l.first, &l.records, &l.created, &l.dead,
		&servers)
	if errors.Is(err, pgx.ErrNoRows) {
		return life{}, false, nil
	}
	if err != nil {
		return life{}, false, err
	}
	if servers != len(j.s.cfg.Ledger) {
		return life{}, false, j.s.notBegunSo(servers)
	}
	l.until = asked.Add(j.s.cfg.JobExpiry)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lives[id] = l
	return l, true, nil
}

// believed returns what is known of a job without asking.
func (j *Jobs) believed(id crawl.JobID) (l life, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, ok = j.lives[id]
	return l, ok && time.Now().Before(l.until)
}

// Life is a text that names the present life of a job: no other has it.
func (j *Jobs) Life(ctx context.Context, id crawl.JobID) (text string, err error) {
	l, known := j.believed(id)
	if !known {
		err = j.s.do(ctx, fmt.Sprintf("job %q", id), func(ctx context.Context) error {
			l, known, err = j.life(ctx, id)
			return err
		})
	}
	switch {
	case err != nil:
		return "", err
	case !known:
		return "", unknownJob(id)
	case l.dead:
		return "", discarded(id)
	}
	return fmt.Sprintf("%d-%d", l.number, l.created.UnixMicro()), nil
}

// RecordLife returns the number by which the store of records names the present life of a job: 0 is the first. Who
// works for an earlier life gets crawl.ErrDiscarded. Of a job that is being deleted it is the life that ends; of one
// never heard of, the first.
func (j *Jobs) RecordLife(ctx context.Context, id crawl.JobID) (n uint32, err error) {
	l, ok := j.believed(id)
	if !ok {
		err = j.s.do(ctx, fmt.Sprintf("job %q", id), func(ctx context.Context) error {
			l, _, err = j.life(ctx, id)
			return err
		})
	}
	if err == nil && l.before(ctx, id) {
		err = discarded(id)
	}
	return l.records, err
}

// find returns a job's number; false for one never heard of, or deleted.
func (j *Jobs) find(ctx context.Context, id crawl.JobID) (int32, bool, error) {
	l, known, err := j.life(ctx, id)
	return l.number, known && !l.dead, err
}

// before reports whether ctx is that of a handler whose message was made in a life that has ended (crawl.UnderEpoch).
func (l *life) before(ctx context.Context, id crawl.JobID) bool {
	epoch, ok := crawl.EpochUnder(ctx, id)
	return ok && (l.dead || epoch < l.first)
}

// number returns a job's number. The first call gives it one, and a partition of the attempts. A deleted job has none,
// and none is known to who works for an earlier life of it: what it would write belongs to nobody any more.
func (j *Jobs) number(ctx context.Context, id crawl.JobID) (int32, error) {
	l, known, err := j.life(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case known && (l.dead || l.before(ctx, id)):
		return 0, discarded(id)
	case known:
		return l.number, nil
	}
	err = pgx.BeginFunc(ctx, j.s.pool, func(tx pgx.Tx) error {
		// One at a time: of two that attach partitions at once one would be a deadlock's victim.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(jobLock)); err != nil {
			return err
		}
		var n int32
		err := tx.QueryRow(ctx, "INSERT INTO jobs (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING number",
			indexed(string(id))).Scan(&n)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return addPartition(ctx, tx, n)
	})
	if err != nil {
		return 0, err
	}
	return j.number(ctx, id)
}

// numberSince is number for data that was made at an epoch of the job. Data of a former life never gets into the
// present one, however late it arrives: rows under the former number belong to no job.
func (j *Jobs) numberSince(ctx context.Context, id crawl.JobID, epoch uint32) (int32, error) {
	number, err := j.number(ctx, id)
	if err != nil {
		return 0, err
	}
	if l, _, err := j.life(ctx, id); err != nil {
		return 0, err
	} else if l.dead || l.number != number || epoch < l.first {
		return 0, discarded(id)
	}
	return number, nil
}

// revive begins another life of a job that was deleted. It fails where the deletion has not come to its end.
func (j *Jobs) revive(ctx context.Context, id crawl.JobID) error {
	return pgx.BeginFunc(ctx, j.s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(jobLock)); err != nil {
			return err
		}
		var former, number int32
		var dead, gone bool
		err := tx.QueryRow(ctx, `SELECT number, deleted IS NOT NULL, gone FROM jobs WHERE id = $1 FOR UPDATE`,
			indexed(string(id))).Scan(&former, &dead, &gone)
		switch {
		case errors.Is(err, pgx.ErrNoRows) || err == nil && !dead:
			return nil
		case err != nil:
			return err
		case !gone:
			return crawl.Permanent(fmt.Errorf("job %q is being deleted: `whirlpool delete %s --cluster` brings that to its end",
				id, id))
		}
		const sql = `UPDATE jobs SET number = DEFAULT, spec = NULL, sweep = NULL, state = 'running', created = now(), ended = NULL, deleted = NULL, gone = false,
			first_epoch = epoch + 1, record_life = epoch + 1, epoch = epoch + 1 WHERE id = $1 RETURNING number`
		if err := tx.QueryRow(ctx, sql, indexed(string(id))).Scan(&number); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO retired_numbers (number, id) VALUES ($1, $2)`, former,
			indexed(string(id))); err != nil {
			return err
		}
		return addPartition(ctx, tx, number)
	})
}

// forgetLife makes the next look see what the database says.
func (j *Jobs) forgetLife(id crawl.JobID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.lives, id)
	for key := range j.specs {
		if key.id == id {
			delete(j.specs, key)
		}
	}
}
