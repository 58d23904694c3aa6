package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// URLs is the URL set and the ledger: one row a URL and job.
type URLs struct{ s *Store }

var (
	_ crawl.URLSet = (*URLs)(nil)
	_ crawl.Ledger = (*URLs)(nil)
)

// claimSQL claims the URLs that are unknown (no state) or excluded (3) and returns the positions of the others. A claim
// that another statement made between the look-up and the insert is in neither list: then all fresh ones are returned
// by position.
var claimSQL = `
	WITH asked AS MATERIALIZED (
		SELECT a.ord, a.host, a.hash, a.url, a.kind, a.task, u.state, u.claimant
		FROM unnest($2::bigint[], $3::uuid[], $6::text[], $7::smallint[], $8::bytea[]) WITH ORDINALITY AS a (host, hash, url, kind, task, ord)
		LEFT JOIN LATERAL (
			SELECT state, claimant FROM urls WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1
		) u ON true
	), fresh AS (
		INSERT INTO urls AS u (job, host, hash, state, claimant, changed, url, kind, task)
		SELECT $1, host, hash, 1, $4, $5, url, kind, task FROM asked WHERE state IS NULL OR state = 3
		ON CONFLICT (job, host, hash) DO UPDATE SET state = 1, was = u.state, claimant = excluded.claimant,
			changed = excluded.changed, url = excluded.url, kind = excluded.kind, task = excluded.task
		WHERE u.state = 3
		RETURNING hash, was, left_out
	), ` + count(`
		SELECT 'claimed' AS counter, '' AS arg, 1 AS by FROM fresh
		UNION ALL SELECT 'excluded', left_out, -1 FROM fresh WHERE was = 3`) + answered(`state <> 3`)

// excludeSQL notes the URLs that are unknown as excluded, and answers like claimSQL.
var excludeSQL = `
	WITH asked AS MATERIALIZED (
		SELECT a.ord, a.host, a.hash, a.url, a.reason, a.kind, a.task, a.epoch, a.rule, u.state, u.claimant
		FROM unnest($2::bigint[], $3::uuid[], $6::text[], $7::text[], $8::smallint[], $9::bytea[], $10::integer[], $11::text[])
			WITH ORDINALITY AS a (host, hash, url, reason, kind, task, epoch, rule, ord)
		LEFT JOIN LATERAL (
			SELECT state, CASE state WHEN 3 THEN claimant END AS claimant
			FROM urls WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1
		) u ON true
	), fresh AS (
		INSERT INTO urls (job, host, hash, state, claimant, changed, url, left_out, kind, task, epoch, rule)
		SELECT $1, host, hash, 3, $4, $5, url, reason, kind, task, epoch, rule FROM asked WHERE state IS NULL
		ON CONFLICT (job, host, hash) DO NOTHING
		RETURNING hash, left_out
	), ` + count(`SELECT 'excluded' AS counter, left_out AS arg, 1 AS by FROM fresh`) + answered(`true`)

// answered selects the positions, from 1, of repeats and of other taken URLs, and the fresh ones if they are not simply
// the rest.
func answered(taken string) string {
	return `
	SELECT ARRAY(SELECT ord FROM asked WHERE ` + taken + ` AND claimant = $4),
		ARRAY(SELECT ord FROM asked WHERE state IS NOT NULL AND ` + taken + ` AND claimant IS DISTINCT FROM $4),
		(SELECT count(*) FROM asked WHERE NOT (state IS NOT NULL AND ` + taken + `)) = (SELECT count(*) FROM fresh),
		CASE WHEN (SELECT count(*) FROM asked WHERE NOT (state IS NOT NULL AND ` + taken + `)) <> (SELECT count(*) FROM fresh)
			THEN ARRAY(SELECT hash FROM fresh) END`
}

// Claim implements crawl.URLSet. The rows can bring the tasks back: see Open.
func (u *URLs) Claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	return onServersAsk(u.s, tasks, keyOfTask, func(at *Store, part []crawl.Task) ([]crawl.Claimed, error) {
		return (&URLs{at}).claim(ctx, job, by, part)
	})
}

func (u *URLs) claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	url := func(i int) weburl.URL { return tasks[i].URL }
	epoch := uint32(math.MaxUint32)
	for i := range tasks {
		epoch = min(epoch, tasks[i].JobEpoch())
	}
	columns := func(b *batch) []any {
		var buf []byte
		return []any{column(b, func(i int) string { return tasks[i].URL.String() }),
			column(b, func(i int) int16 { return int16(tasks[i].Kind) }),
			column(b, func(i int) (stored []byte) { stored, buf = storeTask(buf, &tasks[i]); return stored })}
	}
	return u.answer(ctx, &claiming{job: job, epoch: epoch, by: by, n: len(tasks), url: url, to: crawl.StateOpen,
		sql: claimSQL, columns: columns})
}

// Exclude implements crawl.URLSet.
func (u *URLs) Exclude(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	key := func(e *crawl.Exclusion) weburl.Key { return e.URL.Key() }
	return onServersAsk(u.s, excl, key, func(at *Store, part []crawl.Exclusion) ([]crawl.Claimed, error) {
		return (&URLs{at}).exclude(ctx, job, by, part)
	})
}

func (u *URLs) exclude(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	url := func(i int) weburl.URL { return excl[i].URL }
	epoch := uint32(0) // they are of one message; of links with other schemes an older filter does not say it
	for i := range excl {
		epoch = max(epoch, crawl.EpochOf(excl[i].Epoch))
	}
	columns := func(b *batch) []any {
		return append([]any{column(b, func(i int) string { return url(i).String() }),
			column(b, func(i int) string { return clean(excl[i].Reason, maxReason) })}, leftOutArgs(b, job, excl)...)
	}
	return u.answer(ctx, &claiming{job: job, epoch: epoch, by: by, n: len(excl), url: url, to: crawl.StateExcluded,
		sql: excludeSQL, columns: columns})
}

// claiming is a call of Claim or Exclude: n URLs of a job get the state to, by one of the statements above.
type claiming struct {
	job     crawl.JobID
	epoch   uint32 // of the URLs: those of a former life of the job are refused, see numberSince
	by      crawl.MessageID
	n       int
	url     func(i int) weburl.URL
	to      crawl.State
	sql     string
	columns func(*batch) []any // arguments of the statement behind the first five
}

// answer sends the statement. URLs that are in the call again are Known.
func (u *URLs) answer(ctx context.Context, c *claiming) ([]crawl.Claimed, error) {
	out := make([]crawl.Claimed, c.n)
	if c.n == 0 {
		return out, nil
	}
	b := makeBatch(c.n, func(i int) weburl.Key { return c.url(i).Key() })
	args := append([]any{int32(0), b.hosts, b.hashes, claimantOf(c.by), time.Now()}, c.columns(b)...)
	var a answers
	err := u.s.do(ctx, fmt.Sprintf("claim %d URLs, the first %s", c.n, c.url(0)), func(ctx context.Context) error {
		number, err := u.s.jobs.numberSince(ctx, c.job, c.epoch)
		if err != nil {
			return err
		}
		args[0] = number
		read := func(row pgx.Row) error { return row.Scan(&a.repeats, &a.known, &a.whole, &a.fresh) }
		if err := u.s.write(ctx, read, c.sql, args...); err != nil || a.whole {
			return err
		}
		return u.outrun(ctx, number, c.to, claimantOf(c.by), b, &a)
	})
	if err != nil {
		return nil, err
	}
	a.fill(out, b)
	return out, nil
}

// answers are what a statement says of a batch: places from 1.
type answers struct {
	repeats, known []int64
	whole          bool // all the others are fresh
	fresh          pgtype.FlatArray[pgtype.UUID]
}

func (a *answers) fill(out []crawl.Claimed, b *batch) {
	for _, arg := range b.arg {
		out[arg] = crawl.New
	}
	for _, ord := range a.repeats {
		out[b.arg[ord-1]] = crawl.Repeat
	}
	for _, ord := range a.known {
		out[b.arg[ord-1]] = crawl.Known
	}
}

const claimantSQL = `
	SELECT a.ord, u.claimant IS NOT DISTINCT FROM $4 AND (u.state = 3) = ($5 = 3)
	FROM unnest($2::bigint[], $3::uuid[]) WITH ORDINALITY AS a (host, hash, ord)
	JOIN LATERAL (SELECT state, claimant FROM urls WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1) u ON true`

// outrun looks at the URLs that another statement claimed between the look-up and the insert. The same message,
// delivered twice at once, may have sent that statement; then the answer is Repeat.
func (u *URLs) outrun(ctx context.Context, number int32, to crawl.State, by int64, b *batch, a *answers) error {
	settled := make(map[int64]bool, len(b.arg))
	for _, ord := range a.repeats {
		settled[ord] = true
	}
	for _, ord := range a.known {
		settled[ord] = true
	}
	fresh := make(map[[16]byte]bool, len(a.fresh))
	for _, h := range a.fresh {
		fresh[h.Bytes] = true
	}
	rows, err := u.s.pool.Query(ctx, claimantSQL, number, b.hosts, b.hashes, by, int16(to))
	if err != nil {
		return err
	}
	var ord int64
	var mine bool
	_, err = pgx.ForEachRow(rows, []any{&ord, &mine}, func() error {
		switch {
		case settled[ord] || fresh[b.hashes[ord-1].Bytes]:
		case mine:
			a.repeats = append(a.repeats, ord)
		default:
			a.known = append(a.known, ord)
		}
		return nil
	})
	return err
}
