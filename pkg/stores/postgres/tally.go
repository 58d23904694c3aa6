package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The counters of a job, as crawl.Tally names them. Those by verdict, status and reason have it as their arg.
const (
	countClaimed  = "claimed"
	countPage     = "page"
	countVerdict  = "verdict"
	countStatus   = "status"
	countExcluded = "excluded"
)

// count is the common table expression that adds changes, rows of (counter, arg, by), to the counters of job $1, in the
// transaction that made them. There are 64 shards. The session's process id selects one, so that a session never waits
// for itself and rarely for others. Counters are locked in order, after all URLs.
func count(changes string) string {
	return `counted AS (
		INSERT INTO tallies AS t (job, shard, counter, arg, n)
		SELECT $1::integer, pg_backend_pid() & 63, counter, coalesce(arg, ''), sum(by) FROM (` + changes + `) c
		GROUP BY counter, coalesce(arg, '') HAVING sum(by) <> 0 ORDER BY counter, coalesce(arg, '')
		ON CONFLICT (job, shard, counter, arg) DO UPDATE SET n = t.n + excluded.n)`
}

// outcomeCounts are the counters in which rows of a table with outcomes count, apart from countClaimed. Those that were
// claimed and then left out (verdict 7) count by their reason and not by a status.
func outcomeCounts(table, by, where string) string {
	return `SELECT 'verdict' AS counter, verdict::text AS arg, ` + by + ` AS by FROM ` + table + ` WHERE ` + where + `
		UNION ALL SELECT 'excluded', reason, ` + by + ` FROM ` + table + ` WHERE verdict = 7 AND ` + where + `
		UNION ALL SELECT 'status', status::text, ` + by + ` FROM ` + table + ` WHERE verdict <> 7 AND ` + where + `
		UNION ALL SELECT 'page', '', ` + by + ` FROM ` + table + ` WHERE ` + isPage + ` AND ` + where
}

// isPage is the condition of a row that counts as a page (crawl.CountsAsPage): done (1) with 2xx, or a shell with 404.
const isPage = `kind = 0 AND verdict = 1 AND (status BETWEEN 200 AND 299 OR status = 404)`

// pageOf is isPage of the row of a table.
func pageOf(table string) string {
	return table + `.kind = 0 AND ` + table + `.verdict = 1 AND (` + table + `.status BETWEEN 200 AND 299 OR ` + table +
		`.status = 404)`
}

const tallySQL = `SELECT counter, arg, sum(n)::bigint FROM tallies WHERE job = $1 GROUP BY counter, arg HAVING sum(n) <> 0`

// Tally implements crawl.Ledger. It adds up some hundreds of counters, however many URLs there are. On several servers
// it is of no single moment: where two in a row have as many claimed URLs, none was claimed between the two.
func (u *URLs) Tally(ctx context.Context, job crawl.JobID) (crawl.Tally, error) {
	tallies := make([]crawl.Tally, len(u.s.ledger))
	err := u.s.together(func(i int, at *Store) (err error) {
		tallies[i], err = (&URLs{at}).tally(ctx, job, func(ctx context.Context, number int32) (pgx.Rows, error) {
			return at.pool.Query(ctx, tallySQL, number)
		})
		return err
	})
	return sumTallies(tallies), err
}

func sumTallies(all []crawl.Tally) crawl.Tally {
	sum := all[0]
	for _, t := range all[1:] {
		sum.Claimed += t.Claimed
		sum.Pages += t.Pages
		addCounts(sum.Verdicts, t.Verdicts)
		addCounts(sum.Statuses, t.Statuses)
		addCounts(sum.Excluded, t.Excluded)
	}
	return sum
}

func addCounts[K comparable](sum, more map[K]int64) {
	for k, n := range more {
		if sum[k] += n; sum[k] == 0 {
			delete(sum, k)
		}
	}
}

func (u *URLs) tally(ctx context.Context, job crawl.JobID,
	query func(ctx context.Context, number int32) (pgx.Rows, error)) (
	crawl.Tally, error) {
	var out crawl.Tally
	err := u.s.do(ctx, fmt.Sprintf("tally of job %q", job), func(ctx context.Context) error {
		out = crawl.Tally{Verdicts: map[string]int64{}, Statuses: map[int]int64{}, Excluded: map[string]int64{}}
		number, known, err := u.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := query(ctx, number)
		if err != nil {
			return err
		}
		var counter, arg string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&counter, &arg, &n}, func() error { return fillTally(&out, counter, arg, n) })
		return err
	})
	return out, err
}

func fillTally(out *crawl.Tally, counter, arg string, n int64) error {
	number := 0
	if counter == countVerdict || counter == countStatus {
		var err error
		if number, err = strconv.Atoi(arg); err != nil {
			return fmt.Errorf("counter %s of %q in table tallies: %w", counter, arg, err)
		}
	}
	switch counter {
	case countClaimed:
		out.Claimed = n
	case countPage:
		out.Pages = n
	case countVerdict:
		out.Verdicts[crawl.Verdict(number).String()] = n
	case countStatus:
		out.Statuses[number] = n
	case countExcluded:
		out.Excluded[arg] = n
	}
	return nil
}
