package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.LeftOuts = (*URLs)(nil)

// leftOutColumns are what scanLeftOut reads. The version before kept no task of what was excluded: what its line in the
// log says must do.
const leftOutColumns = `
	SELECT u.url, u.kind, u.task, u.state = 2, u.epoch, u.rule, CASE u.state WHEN 3 THEN u.left_out ELSE u.reason END, l.depth, l.referrer
	FROM urls u LEFT JOIN LATERAL (
		SELECT depth, referrer FROM attempts a WHERE a.job = $1 AND a.host = u.host AND a.hash = u.hash AND a.verdict = 7 ORDER BY at LIMIT 1
	) l ON u.task IS NULL
	WHERE u.job = $1 AND u.url IS NOT NULL AND (u.state = 3 OR u.state = 2 AND u.verdict = 7)
		AND u.left_out IS DISTINCT FROM '` + crawl.ReasonScheme + `' AND `

// leftOutSQL passes over URLs of other schemes, which nothing admits.
const leftOutSQL = leftOutColumns + `u.left_out IS DISTINCT FROM '` + crawl.ReasonScheme +
	`' AND (u.host, u.hash) > ($2, $3) ORDER BY u.host, u.hash LIMIT $4`

const whyLeftOutSQL = leftOutColumns + `u.host = $2 AND u.hash = $3`

// walkSettings make the walk read the index in its order: a batch of it is not worth sorting the table for.
const walkSettings = `SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL max_parallel_workers_per_gather = 0`

// LeftOut implements crawl.LeftOuts. A call reads on until it has found enough: it has no time limit but its context.
func (u *URLs) LeftOut(ctx context.Context, job crawl.JobID, after weburl.Key,
	n int) (list []crawl.LeftOut, err error) {
	return walk(u.s, after, n, func(at *Store, n int) ([]crawl.LeftOut, error) {
		return (&URLs{at}).leftOut(ctx, job, after, n)
	})
}

func (u *URLs) leftOut(ctx context.Context, job crawl.JobID, after weburl.Key,
	n int) (list []crawl.LeftOut, err error) {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, err
	}
	err = u.s.report(ctx, fmt.Sprintf("what job %q left out", job), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, walkSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, leftOutSQL, number, hostOf(after), hashOf(after), n)
		if err != nil {
			return err
		}
		list, err = collectLeftOut(job, rows)
		return err
	})
	return list, err
}

// WhyLeftOut implements crawl.LeftOuts.
func (u *URLs) WhyLeftOut(ctx context.Context, job crawl.JobID, k weburl.Key) (l crawl.LeftOut, found bool, err error) {
	err = u.s.do(ctx, fmt.Sprintf("why URL %s is left out", k), func(ctx context.Context) error {
		number, known, err := u.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := u.s.at(k).pool.Query(ctx, whyLeftOutSQL, number, hostOf(k), hashOf(k))
		if err != nil {
			return err
		}
		list, err := collectLeftOut(job, rows)
		if found = err == nil && len(list) > 0; found {
			l = list[0]
		}
		return err
	})
	return l, found, err
}

func collectLeftOut(job crawl.JobID, rows pgx.Rows) (list []crawl.LeftOut, err error) {
	var url string
	var kind int16
	var stored []byte
	var dismissed bool
	var epoch int32
	var rule, reason, referrer *string
	var depth *int32
	_, err = pgx.ForEachRow(rows, []any{&url, &kind, &stored, &dismissed, &epoch, &rule, &reason, &depth, &referrer},
		func() error {
			at, err := storedURL(&url)
			if err != nil {
				return err
			}
			l := crawl.LeftOut{Reason: text(reason), Rule: text(rule), Dismissed: dismissed}
			if l.Task, err = restoreTask(job, at, crawl.Kind(kind), stored); err != nil {
				return err
			}
			if l.Task.Repeat, l.Task.Epoch = false, uint32(epoch); epoch == 1 {
				l.Task.Epoch = 0
			}
			if depth != nil {
				l.Task.Depth = int(*depth)
				err = l.Task.Referrer.UnmarshalText([]byte(text(referrer)))
			}
			list = append(list, l)
			return err
		})
	return list, err
}

// releaseSQL makes rows that were claimed and then left out what they would be had nobody claimed them.
var releaseSQL = `
	WITH back AS (
		UPDATE urls AS u SET state = 3, was = u.state, left_out = u.reason
		FROM unnest($2::bigint[], $3::uuid[]) AS a (host, hash)
		WHERE u.job = $1 AND u.host = a.host AND u.hash = a.hash AND u.state = 2 AND u.verdict = 7
		RETURNING u.verdict, u.kind, u.status, u.reason, u.left_out
	), ` + count(`
		SELECT 'claimed' AS counter, '' AS arg, -1 AS by FROM back
		UNION ALL SELECT 'excluded', left_out, 1 FROM back
		UNION ALL `+outcomeCounts("back", "-1", "true")) + `
	SELECT count(*) FROM back`

// Release implements crawl.LeftOuts.
func (u *URLs) Release(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return u.changeKeys(ctx, job, "release", keys, releaseSQL, func(*batch) []any { return nil })
}

// leftOutArgs are the columns that excludeSQL keeps of exclusions, besides their URLs and reasons.
func leftOutArgs(b *batch, job crawl.JobID, excl []crawl.Exclusion) []any {
	var buf []byte
	return []any{
		column(b, func(i int) int16 { return int16(excl[i].Kind) }),
		column(b, func(i int) (stored []byte) {
			t := excl[i].LeftOut(job).Task
			stored, buf = storeTask(buf, &t)
			return stored
		}),
		column(b, func(i int) int32 { return int32(crawl.EpochOf(excl[i].Epoch)) }),
		column(b, func(i int) *string { return optional(excl[i].Rule, maxDetail) }),
	}
}

// keptBeside are the columns that finishSQL keeps of outcomes, besides what the ledger says of all.
func keptBeside(b *batch, entries []crawl.Entry) []any {
	return []any{
		column(b, func(i int) int32 { return int32(crawl.EpochOf(entries[i].Epoch)) }),
		column(b, func(i int) *string {
			if l := entries[i].Left; l != nil {
				return optional(l.Rule, maxDetail)
			}
			return nil
		}),
		column(b, func(i int) []byte {
			v := crawl.Visited{Validators: entries[i].Validators, Again: entries[i].Again}
			if !v.IsZero() {
				return crawl.AppendVisited(nil, &v)
			}
			return nil
		}),
		column(b, func(i int) int32 { return int32(entries[i].Visit) }),
		column(b, func(i int) bool { return entries[i].Validators.IsZero() }),
		column(b, func(i int) bool { return entries[i].Again != nil }),
	}
}
