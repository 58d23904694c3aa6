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

// Followed is Following for a node of its own, for a tenth of the cost: which pages are expected is what the ledger
// says, and those whose links are claimed are noted by the dozen, never looked up one by one, and never deleted. To
// find those that are missing takes a walk through the job: that is done where nothing goes on. A page's links have one
// share, because they go to one DUE. A robots.txt, which is in no ledger, is followed as on a ring.
//
// A note outlives a page that is taken back and fetched again: its links were claimed.
type Followed struct {
	*Following
	g gather[claimedShare]
}

var _ crawl.Following = (*Followed)(nil)

// linger is how long the first of some notes waits for others, and four times as long where few come: the message of
// each is settled afterwards, and nobody waits for that. A DUE notes 64 pages at once, so 2,500 a second.
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
	// missed are the pages of job $1 with an outcome that links follow (crawl.HasLinks) from before $2 of which nothing
	// was noted.
	missed = `
		FROM urls u WHERE u.job = $1 AND u.state = 2 AND u.verdict = 1 AND u.kind IN (0, 2) AND u.status BETWEEN 200 AND 399
			AND u.status NOT IN (204, 205, 304) AND u.changed < $2 AND u.url IS NOT NULL
			AND u.changed >= coalesce((SELECT since FROM followed_since WHERE job = $1), '-infinity')
			AND NOT EXISTS (SELECT FROM followed f, unnest(f.hosts, f.hashes) AS a (host, hash)
				WHERE f.job = $1 AND a.host = u.host AND a.hash = u.hash)`
	// unsaid are the robots.txt files of job $1 that were expected before $2 of which nothing was noted since; a note
	// may come minutes before.
	unsaid = `
		FROM following r WHERE r.job = $1 AND r.expected < $2 AND NOT EXISTS (SELECT FROM followed f, unnest(f.hosts, f.hashes) AS a (host, hash)
			WHERE f.job = $1 AND f.noted > r.expected - interval '10 minutes' AND a.host = r.host AND a.hash = r.hash)`
	missedSQL      = `SELECT u.url, u.kind, u.task ` + missed + ` UNION ALL SELECT r.url, r.kind, r.task ` + unsaid
	countMissedSQL = `SELECT (SELECT count(*) ` + missed + `) + (SELECT count(*) ` + unsaid + `)`
	elsewhereSQL   = `INSERT INTO followed_since (job, since) SELECT number, now() FROM jobs
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
	return f.g.do(ctx, []claimedShare{{job, page, s}})
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
			number, err := f.s.jobs.number(ctx, p.job)
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

// Missing hands the task of every page of a job to each that was fetched before a time, and of whose links some are not
// claimed.
func (f *Followed) Missing(ctx context.Context, job crawl.JobID, before time.Time, each func(crawl.Task) error) error {
	number, known, err := f.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return f.missed(ctx, crawl.JobInfo{ID: job, Number: number}, before, each)
}

// Unfollowed implements crawl.Following, of jobs that run.
func (f *Followed) Unfollowed(ctx context.Context, before time.Time, each func(crawl.Task) error) error {
	jobs, err := f.s.jobs.List(ctx)
	for _, j := range jobs {
		if err == nil && j.State == crawl.JobRunning {
			err = f.missed(ctx, j, before, each)
		}
	}
	return err
}

func (f *Followed) missed(ctx context.Context, j crawl.JobInfo, before time.Time, each func(crawl.Task) error) error {
	return f.s.report(ctx, fmt.Sprintf("pages of job %q whose links are missing", j.ID), func(ctx context.Context, tx pgx.Tx) error {
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
	err = f.s.report(ctx, fmt.Sprintf("count the pages of job %q whose links are missing", job), func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, countMissedSQL, number, time.Now()).Scan(&n)
	})
	return n, err
}

// Elsewhere says that the pages that have been fetched so far are followed by a table of another kind: a ring calls it
// now and then, so that a node that is taken out of the ring to work on its own does not take them for lost.
func (f *Followed) Elsewhere(ctx context.Context) error {
	return f.s.do(ctx, "note that pages are followed on a ring", func(ctx context.Context) error {
		_, err := f.s.pool.Exec(ctx, elsewhereSQL)
		return err
	})
}
