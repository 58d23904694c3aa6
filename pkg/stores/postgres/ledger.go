package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// finishSQL records outcomes. Of a row that is done already an outcome of the same visit changes no more than the time
// and what is kept with it, one of an earlier visit nothing. That of a later visit replaces it, but a page stays one:
// see crawl.Ledger. What a row says before it is replaced is read first, and locked, for the counters have to lose it;
// in a job that visits each URL once there is none of it to read.
var finishSQL = `
	WITH told AS MATERIALIZED (
		SELECT * FROM unnest($2::bigint[], $3::uuid[], $4::timestamptz[], $5::smallint[], $6::smallint[], $7::integer[], $8::integer[],
			$9::text[], $10::integer[], $11::text[], $12::bytea[], $13::integer[], $14::boolean[], $15::boolean[])
			AS a (host, hash, changed, verdict, kind, status, attempts, reason, epoch, rule, visited, visit, bare, keeps)
	), old AS MATERIALIZED (
		SELECT a.host, a.hash, u.* FROM told a
		JOIN LATERAL (
			SELECT verdict, kind, status, reason, visited, visit FROM urls
			WHERE job = $1 AND host = a.host AND hash = a.hash AND state = 2 LIMIT 1 FOR UPDATE
		) u ON true
		WHERE a.visit > 0 OR a.visited IS NOT NULL
	), done AS (
		INSERT INTO urls AS u (job, host, hash, state, changed, verdict, kind, status, attempts, reason, epoch, rule, visited, visit)
		SELECT $1, a.host, a.hash, 2, a.changed, a.verdict, a.kind, a.status, a.attempts, a.reason, a.epoch, a.rule,
			CASE WHEN a.visit = o.visit AND NOT a.keeps OR a.bare AND ` + pageOf("o") + ` AND NOT (` + pageOf("a") + `)
				THEN o.visited ELSE a.visited END, a.visit
		FROM told a LEFT JOIN old o ON o.host = a.host AND o.hash = a.hash
		ORDER BY a.host, a.hash
		ON CONFLICT (job, host, hash) DO UPDATE SET state = 2, was = u.state, changed = excluded.changed, ` + finishColumns() + `,
			visited = CASE WHEN u.state = 2 AND excluded.visit = u.visit THEN coalesce(excluded.visited, u.visited) ELSE excluded.visited END,
			visit = excluded.visit
		WHERE u.state <> 2 OR excluded.visit >= u.visit
		RETURNING host, hash, was, verdict, kind, status, reason, left_out
	), again AS (
		SELECT d.* FROM done d JOIN old o ON o.host = d.host AND o.hash = d.hash WHERE d.was = 2
	), before AS (
		SELECT o.* FROM done d JOIN old o ON o.host = d.host AND o.hash = d.hash WHERE d.was = 2
	), ` + count(`
		SELECT 'claimed' AS counter, '' AS arg, 1 AS by FROM done WHERE was IN (0, 3)
		UNION ALL SELECT 'excluded', left_out, -1 FROM done WHERE was = 3
		UNION ALL `+outcomeCounts("done", "1", "was <> 2")+`
		UNION ALL `+outcomeCounts("again", "1", "true")+`
		UNION ALL `+outcomeCounts("before", "-1", "true")) + `
	SELECT count(*) FROM done`

// finishColumns are the columns that a later outcome replaces, unless the row stays a page.
func finishColumns() string {
	stays := `u.state = 2 AND (excluded.visit = u.visit OR ` + pageOf("u") + ` AND NOT (` + pageOf("excluded") + `))`
	columns := []string{"verdict", "kind", "status", "attempts", "reason", "epoch", "rule"}
	for i, c := range columns {
		columns[i] = fmt.Sprintf("%s = CASE WHEN %s THEN u.%s ELSE excluded.%s END", c, stays, c, c)
	}
	return strings.Join(columns, ", ")
}

// reopenSQL takes outcomes and exclusions back. The outcome stays in the row, unread, until the next.
var reopenSQL = `
	WITH back AS (
		UPDATE urls AS u SET state = 1, was = u.state, changed = $4
		FROM unnest($2::bigint[], $3::uuid[]) AS a (host, hash)
		WHERE u.job = $1 AND u.host = a.host AND u.hash = a.hash AND u.state IN (2, 3)
		RETURNING u.was, u.verdict, u.kind, u.status, u.reason, u.left_out
	), ` + count(`
		SELECT 'claimed' AS counter, '' AS arg, 1 AS by FROM back WHERE was = 3
		UNION ALL SELECT 'excluded', left_out, -1 FROM back WHERE was = 3
		UNION ALL `+outcomeCounts("back", "-1", "was = 2")) + `
	SELECT count(*) FROM back`

// Finish implements crawl.Ledger.
func (u *URLs) Finish(ctx context.Context, job crawl.JobID, entries ...crawl.Entry) error {
	for i := range entries {
		if err := checkOutcome(&entries[i]); err != nil {
			return crawl.Permanent(err)
		}
	}
	return onServers(u.s, entries, keyOfEntry, func(at *Store, part []crawl.Entry, _ []int) error {
		return (&URLs{at}).finish(ctx, job, part)
	})
}

func (u *URLs) finish(ctx context.Context, job crawl.JobID, entries []crawl.Entry) error {
	now := time.Now()
	at := func(i int) time.Time {
		if entries[i].At.IsZero() {
			return now
		}
		return entries[i].At
	}
	return u.change(ctx, job, "finish", len(entries), func(i int) weburl.Key { return entries[i].Key }, finishSQL,
		func(b *batch) []any {
			return append([]any{column(b, at), column(b, func(i int) int16 { return int16(entries[i].Verdict) }),
				column(b, func(i int) int16 { return int16(entries[i].Kind) }),
				column(b, func(i int) int32 { return int32(entries[i].Status) }),
				column(b, func(i int) int32 { return int32(entries[i].Attempts) }),
				column(b, func(i int) *string { return optional(entries[i].Reason, maxReason) })}, keptBeside(b, entries)...)
		})
}

func checkOutcome(e *crawl.Entry) error {
	if !e.Verdict.Final() || e.Status < 0 || e.Status > math.MaxUint16 || e.Attempts < 0 || e.Attempts > math.MaxInt32 {
		return fmt.Errorf("finish URL %s: verdict %v, status %d, attempts %d are no final outcome", e.Key, e.Verdict,
			e.Status, e.Attempts)
	}
	return nil
}

// Reopen implements crawl.Ledger.
func (u *URLs) Reopen(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	now := time.Now()
	return u.changeKeys(ctx, job, "reopen", keys, reopenSQL, func(*batch) []any { return []any{now} })
}

// changeKeys is change on the servers that have the keys.
func (u *URLs) changeKeys(ctx context.Context, job crawl.JobID, what string, keys []weburl.Key, sql string,
	columns func(*batch) []any) error {
	return onServers(u.s, keys, sameKey, func(at *Store, part []weburl.Key, _ []int) error {
		return (&URLs{at}).change(ctx, job, what, len(part), func(i int) weburl.Key { return part[i] }, sql, columns)
	})
}

// change sends a statement that changes rows and counts them.
func (u *URLs) change(ctx context.Context, job crawl.JobID, what string, n int, key func(i int) weburl.Key, sql string,
	columns func(*batch) []any) error {
	if n == 0 {
		return nil
	}
	b := makeBatch(n, key)
	args := append([]any{int32(0), b.hosts, b.hashes}, columns(b)...)
	return u.s.do(ctx, fmt.Sprintf("%s %d URLs, the first %s", what, n, key(0)), func(ctx context.Context) error {
		number, err := u.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		args[0] = number
		return u.s.write(ctx, nil, sql, args...)
	})
}

// entryColumns are what scanEntry reads. A reason is that of the state.
const entryColumns = `state, verdict, kind, status, attempts, changed, epoch, visit, CASE state WHEN 3 THEN left_out WHEN 2 THEN reason END`

const lookupSQL = `
	SELECT a.ord, u.*
	FROM unnest($2::bigint[], $3::uuid[]) WITH ORDINALITY AS a (host, hash, ord)
	JOIN LATERAL (SELECT ` + entryColumns + `, CASE WHEN state = 2 AND verdict = 1 THEN visited END FROM urls WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1) u ON true`

// Lookup implements crawl.Ledger.
func (u *URLs) Lookup(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	return onServersAsk(u.s, keys, sameKey, func(at *Store, part []weburl.Key) ([]crawl.Entry, error) {
		return (&URLs{at}).lookup(ctx, job, part)
	})
}

func (u *URLs) lookup(ctx context.Context, job crawl.JobID, keys []weburl.Key) ([]crawl.Entry, error) {
	out := make([]crawl.Entry, len(keys))
	for i, k := range keys {
		out[i].Key = k
	}
	if len(keys) == 0 {
		return out, nil
	}
	hosts, hashes := make([]int64, len(keys)), makeHashes(keys)
	for i, k := range keys {
		hosts[i] = hostOf(k)
	}
	err := u.s.do(ctx, fmt.Sprintf("look up %d URLs, the first %s", len(keys), keys[0]), func(ctx context.Context) error {
		number, known, err := u.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := u.s.pool.Query(ctx, lookupSQL, number, hosts, hashes)
		if err != nil {
			return err
		}
		var ord int64
		var e entryRow
		var visited []byte
		_, err = pgx.ForEachRow(rows, append(append([]any{&ord}, e.fields()...), &visited), func() (err error) {
			out[ord-1] = e.public(keys[ord-1])
			kept, err := crawl.DecodeVisited(visited)
			if out[ord-1].Validators, out[ord-1].Again = kept.Validators, kept.Again; err != nil {
				err = fmt.Errorf("URL %s: %w", keys[ord-1], err)
			}
			return err
		})
		return err
	})
	return out, err
}

// entryRow is a row of entryColumns.
type entryRow struct {
	state, verdict, kind int16
	status, attempts     int32
	changed              time.Time
	epoch, visit         int32
	reason               *string
}

func (e *entryRow) fields() []any {
	return []any{&e.state, &e.verdict, &e.kind, &e.status, &e.attempts, &e.changed, &e.epoch, &e.visit, &e.reason}
}

func (e *entryRow) public(k weburl.Key) crawl.Entry {
	out := crawl.Entry{Key: k, State: crawl.State(e.state), Kind: crawl.Kind(e.kind), At: e.changed.UTC()}
	switch out.State {
	case crawl.StateDone:
		out.Verdict, out.Status, out.Attempts = crawl.Verdict(e.verdict), int(e.status), int(e.attempts)
		out.Reason = text(e.reason)
	case crawl.StateExcluded:
		out.Verdict, out.Reason = crawl.VerdictExcluded, text(e.reason)
	}
	if out.State != crawl.StateOpen {
		out.Visit = uint32(max(e.visit, 0))
		if e.epoch > 1 {
			out.Epoch = uint32(e.epoch)
		}
	}
	return out
}
