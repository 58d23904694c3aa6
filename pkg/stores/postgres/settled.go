package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const settledSQL = `
	SELECT url, kind, task FROM urls
	WHERE job = $1 AND state = 2 AND url IS NOT NULL AND verdict = ANY ($2::smallint[]) AND ($3::text[] IS NULL OR reason = ANY ($3))`

// Settled calls each with the task of every URL of a job that has one of the verdicts and, if reasons are given, one of
// the reasons, in no order. It reads the whole job. An error of each stops it.
func (u *URLs) Settled(ctx context.Context, job crawl.JobID, verdicts []crawl.Verdict, reasons []string,
	each func(crawl.Task) error) error {
	return u.s.inTurn(func(at *Store) error { return (&URLs{at}).settled(ctx, job, verdicts, reasons, each) })
}

func (u *URLs) settled(ctx context.Context, job crawl.JobID, verdicts []crawl.Verdict, reasons []string,
	each func(crawl.Task) error) error {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	of := make([]int16, len(verdicts))
	for i, v := range verdicts {
		of[i] = int16(v)
	}
	return u.s.report(ctx, fmt.Sprintf("outcomes of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, settledSQL, number, of, reasons)
		if err != nil {
			return err
		}
		var url, stored pgtype.DriverBytes // of the connection's buffer, until the next row
		var kind int16
		_, err = pgx.ForEachRow(rows, []any{&url, &kind, &stored}, func() error {
			at, err := weburl.ParseStored(url)
			if err != nil {
				return err
			}
			t, err := restoreTask(job, at, crawl.Kind(kind), stored)
			if err != nil {
				return err
			}
			return each(t)
		})
		return err
	})
}

// Why counts URLs that ended in one way for one reason.
type Why struct {
	Verdict crawl.Verdict
	Reason  string // empty: none
	URLs    int64
}

const settledReasonsSQL = `
	SELECT CASE state WHEN 3 THEN $2 ELSE verdict END, coalesce(CASE state WHEN 3 THEN left_out ELSE reason END, ''), count(*)
	FROM urls WHERE job = $1 AND state IN (2, 3) GROUP BY 1, 2`

// Reasons counts a job's finished and excluded URLs by verdict and reason, most frequent first. It reads the whole job.
func (u *URLs) Reasons(ctx context.Context, job crawl.JobID) ([]Why, error) {
	type why struct {
		verdict crawl.Verdict
		reason  string
	}
	counts := map[why]int64{}
	err := u.s.inTurn(func(at *Store) error {
		part, err := (&URLs{at}).reasons(ctx, job)
		for _, w := range part {
			counts[why{w.Verdict, w.Reason}] += w.URLs
		}
		return err
	})
	out := make([]Why, 0, len(counts))
	for w, n := range counts {
		out = append(out, Why{w.verdict, w.reason, n})
	}
	slices.SortFunc(out, func(a, b Why) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return out, err
}

func (u *URLs) reasons(ctx context.Context, job crawl.JobID) (out []Why, err error) {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, err
	}
	err = u.s.report(ctx, fmt.Sprintf("count the reasons of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, settledReasonsSQL, number, int16(crawl.VerdictExcluded))
		if err != nil {
			return err
		}
		var w Why
		var verdict int16
		_, err = pgx.ForEachRow(rows, []any{&verdict, &w.Reason, &w.URLs}, func() error {
			w.Verdict = crawl.Verdict(verdict)
			out = append(out, w)
			return nil
		})
		return err
	})
	return out, err
}
