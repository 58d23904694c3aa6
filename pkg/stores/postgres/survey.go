package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// surveyBatch is how much of what was left out a walk reads at once.
const surveyBatch = 1000

// queuedSQL reads the part of the table that is the job's, as openSQL reads that of all.
const queuedSQL = `SELECT url, kind, task FROM urls WHERE job = $1 AND state = 1 AND url IS NOT NULL`

// EachQueued calls each with the tasks of a job's URLs that were claimed and have no outcome: queued or under way, at
// one moment of each server, in no order. pick chooses by a hash which are read; nil: all. The task is valid during the
// call only.
//
// While it runs, the server keeps all row versions since its snapshot, so each should be fast.
func (u *URLs) EachQueued(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool,
	each func(*crawl.Task) error) error {
	return u.s.inTurn(func(at *Store) error { return (&URLs{at}).eachQueued(ctx, job, pick, each) })
}

func (u *URLs) eachQueued(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool,
	each func(*crawl.Task) error) error {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return u.s.report(ctx, fmt.Sprintf("what job %q has queued", job), func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, queuedSQL, number)
		if err != nil {
			return err
		}
		var url, stored pgtype.DriverBytes // of the connection's buffer, until the next row
		var kind int16
		_, err = pgx.ForEachRow(rows, []any{&url, &kind, &stored}, func() error {
			if pick != nil && !pick(xxh3.Hash(url)) {
				return nil
			}
			at, err := weburl.ParseStored(url)
			if err != nil {
				return err
			}
			t, err := restoreTask(job, at, crawl.Kind(kind), stored)
			if err != nil {
				return err
			}
			return each(&t)
		})
		return err
	})
}

// EachLeftOut calls each with what a job left out, in the order of their keys; pick chooses as in EachQueued. It is no
// view of one moment: what comes and goes meanwhile is told or not.
func (u *URLs) EachLeftOut(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool,
	each func(*crawl.LeftOut) error) error {
	for after := (weburl.Key{}); ; {
		list, err := u.LeftOut(ctx, job, after, surveyBatch)
		if err != nil {
			return err
		}
		for i := range list {
			if after = list[i].Task.URL.Key(); pick != nil && !pick(xxh3.Hash(after[:])) {
				continue
			}
			if err := each(&list[i]); err != nil {
				return err
			}
		}
		if len(list) < surveyBatch {
			return nil
		}
	}
}

// End is an offset that no line of a job's log has reached: where LinesFrom finds nothing.
func (l *AttemptLog) End(ctx context.Context, job crawl.JobID) (end int64, err error) {
	number, known, err := l.s.jobs.find(ctx, job)
	if err != nil || !known {
		return 0, err
	}
	err = l.s.do(ctx, fmt.Sprintf("end of the log of job %q", job), func(ctx context.Context) error {
		return l.s.pool.QueryRow(ctx, logBlocksSQL, fmt.Sprintf("attempts_%d", number)).Scan(&end)
	})
	return end * blockLines, err
}
