package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Trials keeps what is known of the hosts that topical jobs judge.
type Trials struct{ s *Store }

var _ crawl.HostTrials = (*Trials)(nil)

// Trials returns what is known of the hosts that topical jobs judge.
func (s *Store) Trials() *Trials { return &Trials{s} }

const (
	trialSQL       = `SELECT version, trial FROM trials WHERE job = $1 AND host = $2`
	addTrialSQL    = `INSERT INTO trials (job, host, version, trial) VALUES ($1, $2, $3 + 1, $4) ON CONFLICT DO NOTHING`
	changeTrialSQL = `UPDATE trials SET version = version + 1, trial = $4 WHERE job = $1 AND host = $2 AND version = $3`
)

// read reads a trial. version 0: there is none.
func (r *Trials) read(ctx context.Context, number int32, host string) (t crawl.HostTrial, version int64, err error) {
	var b []byte
	err = r.s.pool.QueryRow(ctx, trialSQL, number, indexed(host)).Scan(&version, &b)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, 0, nil
	}
	if err == nil {
		err = crawl.DecodeValue(b, &t)
	}
	return t, version, err
}

// Trial implements crawl.HostTrials.
func (r *Trials) Trial(ctx context.Context, job crawl.JobID, host string) (t crawl.HostTrial, err error) {
	err = r.s.do(ctx, "trial of host "+host, func(ctx context.Context) error {
		t = crawl.HostTrial{}
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		t, _, err = r.read(ctx, number, host)
		return err
	})
	return t, err
}

// ChangeTrial implements crawl.HostTrials. It locks nothing while it calls change: who finds another version than was
// read begins again, and of those that meet one goes on each time.
func (r *Trials) ChangeTrial(ctx context.Context, job crawl.JobID, host string,
	change func(*crawl.HostTrial) bool) (t crawl.HostTrial, err error) {
	for done := false; !done && err == nil; {
		err = r.s.do(ctx, "change the trial of host "+host, func(ctx context.Context) error {
			number, err := r.s.jobs.number(ctx, job)
			if err == nil {
				t, done, err = r.changeOnce(ctx, number, host, change)
			}
			return err
		})
	}
	return t, err
}

// changeOnce changes a trial, unless another change came between.
func (r *Trials) changeOnce(ctx context.Context, number int32, host string,
	change func(*crawl.HostTrial) bool) (t crawl.HostTrial, done bool, err error) {
	t, version, err := r.read(ctx, number, host)
	if err != nil {
		return t, false, err
	}
	if !change(&t) {
		t, _, err = r.read(ctx, number, host) // change may have changed it
		return t, true, err
	}
	b, err := crawl.EncodeValue(&t)
	if err != nil {
		return t, false, crawl.Permanent(err)
	}
	sql := changeTrialSQL
	if version == 0 {
		sql = addTrialSQL
	}
	tag, err := r.s.pool.Exec(ctx, sql, number, indexed(host), version, b)
	return t, tag.RowsAffected() > 0, err
}
