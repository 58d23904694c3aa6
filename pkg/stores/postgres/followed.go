package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Followed is crawl.Following for a node without a ring, at a tenth of the cost. The ledger tells which pages are
// expected. Pages whose links are claimed are noted in batches; notes are never looked up one by one and never deleted.
// To find missing pages it walks through the job, which is done only when nothing else is going on. A page's links are
// one share, because they go to one DUE. A robots.txt is in no ledger and is followed as on a ring.
//
// A note stays if its page is taken back and fetched again: its links were claimed.
type Followed struct {
	*Following
	g gather[claimedShare]
}

var _ crawl.Following = (*Followed)(nil)

// linger is how long the first notes wait for others; four times as long if few come. Their messages are settled
// afterwards, and nobody waits for that. A DUE notes 64 pages at once, so 2,500 a second.
const linger = 25 * time.Millisecond

func newFollowed(f *Following) *Followed {
	out := &Followed{Following: f}
	out.g.write, out.g.linger = out.note, linger
	return out
}

// Followed returns the pages whose links are on their way, for a node of its own.
func (s *Store) Followed() *Followed { return s.followed }

const (
	noteFollowedSQL = `INSERT INTO followed (job, hosts, hashes) SELECT $1, $2::bigint[], $3::uuid[] FROM ` + softly
	// missed selects the pages of job $1 whose outcome from before $2 has links (crawl.HasLinks) and that have no note.
	missed = `
		FROM urls u WHERE u.job = $1 AND u.state = 2 AND u.verdict = 1 AND u.kind IN (0, 2, 3)
			AND (u.status BETWEEN 200 AND 399 OR u.status = 404) AND u.status NOT IN (204, 205, 304) AND u.changed < $2 AND u.url IS NOT NULL
			AND u.changed >= coalesce((SELECT since FROM followed_since WHERE job = $1), '-infinity')
			AND NOT EXISTS (SELECT FROM followed f, unnest(f.hosts, f.hashes) AS a (host, hash)
				WHERE f.job = $1 AND a.host = u.host AND a.hash = u.hash)`
	// unsaid selects the robots.txt files of job $1 that were expected before $2 and have no note since; a note may
	// come minutes before.
	unsaid = `
		FROM following r WHERE r.job = $1 AND r.expected < $2 AND NOT EXISTS (SELECT FROM followed f, unnest(f.hosts, f.hashes) AS a (host, hash)
			WHERE f.job = $1 AND f.noted > r.expected - interval '10 minutes' AND a.host = r.host AND a.hash = r.hash)`
	missedSQL      = `SELECT u.url, u.kind, u.task ` + missed + ` UNION ALL SELECT r.url, r.kind, r.task ` + unsaid
	countMissedSQL = `SELECT (SELECT count(*) ` + missed + `) + (SELECT count(*) ` + unsaid + `)`
	elsewhereSQL   = `INSERT INTO followed_since (job, since) SELECT number, now() FROM unnest($1::integer[]) AS number
		ON CONFLICT (job) DO UPDATE SET since = excluded.since`
)

// Expect implements crawl.Following.
func (f *Followed) Expect(ctx context.Context, tasks ...crawl.Task) error {
	var robots []crawl.Task
	for _, t := range tasks {
		if t.Kind == crawl.KindRobots {
			robots = append(robots, t)
		}
	}
	return f.Following.Expect(ctx, robots...)
}

// Claimed implements crawl.Following.
func (f *Followed) Claimed(ctx context.Context, job crawl.JobID, page weburl.URL, s crawl.Share) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("links of %s: %w", page, err)
	}
	return f.s.at(page.Key()).followed.g.do(ctx, []claimedShare{newClaimedShare(ctx, job, page, s)})
}

func (f *Followed) close() { f.g.close() }

// note writes notes that came together.
func (f *Followed) note(ctx context.Context, pages []claimedShare) error {
	what := fmt.Sprintf("note that the links of %d pages are claimed, the first of %s", len(pages), pages[0].page)
	return f.s.do(ctx, what, func(ctx context.Context) error {
		type row struct {
			hosts  []int64
			hashes pgtype.FlatArray[pgtype.UUID]
		}
		jobs := map[int32]*row{}
		for _, p := range pages {
			number, err := f.s.jobs.number(p.under(ctx), p.job)
			if errors.Is(err, crawl.ErrDiscarded) {
				continue
			}
			if err != nil {
				return err
			}
			r := jobs[number]
			if r == nil {
				r = &row{}
				jobs[number] = r
			}
			k := p.page.Key()
			r.hosts, r.hashes = append(r.hosts, hostOf(k)), append(r.hashes, hashOf(k))
		}
		for number, r := range jobs { // again after an error: a page may be noted twice
			if _, err := f.s.pool.Exec(ctx, noteFollowedSQL, number, r.hosts, r.hashes); err != nil {
				return err
			}
		}
		return nil
	})
}

// Missing calls each with the task of every page of a job that was fetched before a time and has unclaimed links.
func (f *Followed) Missing(ctx context.Context, job crawl.JobID, before time.Time, each func(crawl.Task) error) error {
	number, known, err := f.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return f.missed(ctx, crawl.JobInfo{ID: job, Number: number}, before, each)
}

// Unfollowed implements crawl.Following, of jobs that run.
func (f *Followed) Unfollowed(ctx context.Context, in []weburl.KeyRange, before time.Time,
	each func(crawl.Task) error) error {
	some := func(t crawl.Task) error {
		if !weburl.InRanges(in, t.URL.Key()) {
			return nil
		}
		return each(t)
	}
	jobs, err := f.s.jobs.List(ctx)
	for _, j := range jobs {
		if err == nil && j.State == crawl.JobRunning {
			err = f.missed(ctx, j, before, some)
		}
	}
	return err
}

func (f *Followed) missed(ctx context.Context, j crawl.JobInfo, before time.Time, each func(crawl.Task) error) error {
	return f.s.inTurn(func(at *Store) error { return at.followed.missedAt(ctx, j, before, each) })
}

func (f *Followed) missedAt(ctx context.Context, j crawl.JobInfo, before time.Time, each func(crawl.Task) error) error {
	return f.s.report(ctx, fmt.Sprintf("pages of job %q whose links are missing", j.ID),
		func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, missedSQL, j.Number, before)
			if err != nil {
				return err
			}
			var url, stored []byte
			var kind int16
			_, err = pgx.ForEachRow(rows, []any{&url, &kind, &stored}, func() error {
				u, err := weburl.ParseStored(url)
				if err != nil {
					return err
				}
				t, err := restoreTask(j.ID, u, crawl.Kind(kind), stored)
				if err != nil {
					return err
				}
				return each(t)
			})
			return err
		})
}

// Forget implements crawl.Following: the ledger forgets by itself, when the page is taken back.
func (f *Followed) Forget(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return f.Following.Forget(ctx, job, keys...)
}

// Waiting implements crawl.Following.
func (f *Followed) Waiting(ctx context.Context, job crawl.JobID) (n int64, err error) {
	number, known, err := f.s.jobs.find(ctx, job)
	if err != nil || !known {
		return 0, err
	}
	return f.s.sum(func(at *Store) (n int64, err error) {
		err = at.report(ctx, fmt.Sprintf("count the pages of job %q whose links are missing", job),
			func(ctx context.Context, tx pgx.Tx) error {
				return tx.QueryRow(ctx, countMissedSQL, number, time.Now()).Scan(&n)
			})
		return n, err
	})
}

// Elsewhere records that the pages fetched so far are tracked by another table. A ring calls it now and then. If a node
// is later taken out of the ring and works alone, it then does not take these pages for lost.
func (f *Followed) Elsewhere(ctx context.Context) error {
	return f.s.do(ctx, "note that pages are followed on a ring", func(ctx context.Context) error {
		rows, err := f.s.pool.Query(ctx, `SELECT number FROM jobs ORDER BY number`)
		if err != nil {
			return err
		}
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			return err
		}
		return f.s.inTurn(func(at *Store) error {
			_, err := at.pool.Exec(ctx, elsewhereSQL, numbers)
			return err
		})
	})
}
