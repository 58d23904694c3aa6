package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Following tracks the pages whose links are on their way. Concurrent calls share statements.
//
// A row that is both expected and complete no longer counts. It is kept for some minutes, so that an outcome that is
// handled again does not start to wait for links that were claimed. If two writers complete a row together, the later
// one sees that and deletes it. None of this need survive a crash of the server: the outcome of an expected page is
// committed after it, and that commit makes everything before it durable.
type Following struct {
	s *Store
	g gather[claimedShare]
	retired
}

var _ crawl.Following = (*Following)(nil)

func newFollowing(s *Store) *Following {
	f := &Following{s: s}
	f.g.write = f.claimed
	return f
}

// Following returns the pages whose links are on their way.
func (s *Store) Following() *Following { return s.following }

// followKey is the key of a row.
type followKey struct {
	job int32
	key weburl.Key
}

func (a followKey) compare(b followKey) int {
	return cmp.Or(cmp.Compare(a.job, b.job), bytes.Compare(a.key[:], b.key[:]))
}

// followKeys are keys as columns.
type followKeys struct {
	jobs   []int32
	hosts  []int64
	hashes pgtype.FlatArray[pgtype.UUID]
}

func (k *followKeys) add(f followKey) {
	k.jobs, k.hosts, k.hashes = append(k.jobs, f.job), append(k.hosts, hostOf(f.key)), append(k.hashes, hashOf(f.key))
}

const (
	whole     = `(f.parts > 0 AND cardinality(f.got) = f.parts)`
	wholeOnes = `SELECT job, host, hash FROM touched f WHERE expected IS NOT NULL AND ` + whole
	softly    = `(SELECT set_config('synchronous_commit', 'off', true)) soft`
	expectSQL = `
	WITH touched AS (INSERT INTO following AS f (job, host, hash, changed, expected, url, kind, task)
	SELECT a.job, a.host, a.hash, $4, $4, a.url, a.kind, a.task
	FROM unnest($1::integer[], $2::bigint[], $3::uuid[], $5::text[], $6::smallint[], $7::bytea[]) AS a (job, host, hash, url, kind, task), ` + softly + `
	ON CONFLICT (job, host, hash) DO UPDATE SET changed = excluded.changed, expected = coalesce(f.expected, excluded.expected),
		url = excluded.url, kind = excluded.kind, task = excluded.task
	RETURNING f.*) ` + wholeOnes
	// The shares of a page that come together are of one split: $6 to $8 are one row a share.
	claimedSQL = `
	WITH touched AS (INSERT INTO following AS f (job, host, hash, changed, epoch, parts, got)
	SELECT a.job, a.host, a.hash, $4, a.epoch, a.parts, array_agg(a.share)
	FROM unnest($1::integer[], $2::bigint[], $3::uuid[], $5::bigint[], $6::integer[], $7::integer[]) AS a (job, host, hash, epoch, parts, share), ` + softly + `
	GROUP BY a.job, a.host, a.hash, a.epoch, a.parts ORDER BY a.job, a.host, a.hash
	ON CONFLICT (job, host, hash) DO UPDATE SET changed = excluded.changed, epoch = excluded.epoch, parts = excluded.parts,
		got = CASE WHEN f.epoch < excluded.epoch OR f.parts < excluded.parts THEN excluded.got
			ELSE ARRAY(SELECT g FROM unnest(f.got) g UNION SELECT g FROM unnest(excluded.got) g) END
	WHERE (f.epoch, f.parts) <= (excluded.epoch, excluded.parts)
	RETURNING f.*) ` + wholeOnes
	wholeSQL = `
	DELETE FROM following AS f USING unnest($1::integer[], $2::bigint[], $3::uuid[]) AS a (job, host, hash)
	WHERE f.job = a.job AND f.host = a.host AND f.hash = a.hash AND f.expected IS NOT NULL AND ` + whole
	forgetSQL = `
	DELETE FROM following AS f USING unnest($1::integer[], $2::bigint[], $3::uuid[]) AS a (job, host, hash)
	WHERE f.job = a.job AND f.host = a.host AND f.hash = a.hash`
	unfollowedSQL = `
	SELECT f.job, f.url, f.kind, f.task FROM following f WHERE f.expected < $1 AND NOT ` + whole + `
		AND width_bucket(f.host, $2::bigint[]) & 1 = 1 ORDER BY f.job, f.host, f.hash`
	strayedSQL = `
	DELETE FROM following WHERE ctid = ANY (ARRAY(SELECT ctid FROM following f WHERE (expected IS NULL OR ` + whole + `) AND changed < $1 LIMIT 10000))`
	waitingSQL = `SELECT count(*) FROM following f WHERE job = $1 AND expected IS NOT NULL AND NOT ` + whole
)

// strayed is the age at which rows without an owner are deleted: shares of pages that were complete and deleted when
// their message came again, and complete rows of programs that ended.
const strayed = 24 * time.Hour

// Expect implements crawl.Following.
func (f *Following) Expect(ctx context.Context, tasks ...crawl.Task) error {
	return onServers(f.s, tasks, keyOfTask, func(at *Store, part []crawl.Task, _ []int) error {
		return at.following.expect(ctx, part)
	})
}

func (f *Following) expect(ctx context.Context, tasks []crawl.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	now := time.Now()
	what := fmt.Sprintf("expect the links of %d pages, the first %s", len(tasks), tasks[0].URL)
	return f.s.do(ctx, what, func(ctx context.Context) error {
		last := make(map[followKey]*crawl.Task, len(tasks))
		for i := range tasks {
			number, err := f.s.jobs.number(crawl.UnderEpoch(ctx, tasks[i].Job, tasks[i].Epoch), tasks[i].Job)
			if errors.Is(err, crawl.ErrDiscarded) {
				continue
			}
			if err != nil {
				return err
			}
			last[followKey{number, tasks[i].URL.Key()}] = &tasks[i]
		}
		var keys followKeys
		var urls []string
		var kinds []int16
		var stored [][]byte
		var buf []byte
		for _, k := range slices.SortedFunc(maps.Keys(last), followKey.compare) {
			t := last[k]
			keys.add(k)
			var one []byte
			one, buf = storeTask(buf, t)
			urls, kinds, stored = append(urls, t.URL.String()), append(kinds, int16(t.Kind)), append(stored, one)
		}
		return f.change(ctx, expectSQL, keys.jobs, keys.hosts, keys.hashes, now, urls, kinds, stored)
	})
}

// change writes to rows, and retires those that are whole now.
func (f *Following) change(ctx context.Context, sql string, args ...any) error {
	rows, err := f.s.pool.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	var job int32
	var host int64
	var hash pgtype.UUID
	now := time.Now()
	var done []retiredRow
	_, err = pgx.ForEachRow(rows, []any{&job, &host, &hash}, func() error {
		done = append(done, retiredRow{followKey{job, keyOf(host, hash)}, now})
		return nil
	})
	if err != nil {
		return err
	}
	f.remove(ctx, f.retire(now, done))
	return nil
}

// remove deletes rows that were whole for long enough. Those that cannot be removed now stray.
func (f *Following) remove(ctx context.Context, rows []retiredRow) {
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b retiredRow) int { return a.compare(b.followKey) })
	var keys followKeys
	for _, r := range rows {
		keys.add(r.followKey)
	}
	if _, err := f.s.pool.Exec(ctx, wholeSQL, keys.jobs, keys.hosts, keys.hashes); err != nil {
		f.s.log.Debug("rows of pages whose links are claimed stay for a day", "rows", len(rows), "error", err)
	}
}

// claimedShare is a call of Claimed.
type claimedShare struct {
	job   crawl.JobID
	page  weburl.URL
	epoch uint32 // under which it was claimed; 0: not known
	crawl.Share
}

func newClaimedShare(ctx context.Context, job crawl.JobID, page weburl.URL, s crawl.Share) claimedShare {
	epoch, _ := crawl.EpochUnder(ctx, job)
	return claimedShare{job, page, epoch, s}
}

// under returns the context of the share's own call, in which it is written together with others.
func (s *claimedShare) under(ctx context.Context) context.Context {
	if s.epoch == 0 {
		return ctx
	}
	return crawl.UnderEpoch(ctx, s.job, s.epoch)
}

// Claimed implements crawl.Following.
func (f *Following) Claimed(ctx context.Context, job crawl.JobID, page weburl.URL, s crawl.Share) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("links of %s: %w", page, err)
	}
	return f.s.at(page.Key()).following.g.do(ctx, []claimedShare{newClaimedShare(ctx, job, page, s)})
}

func (f *Following) close() { f.g.close() }

// claimed writes shares that came together. Of a page's those of the newest split count.
func (f *Following) claimed(ctx context.Context, shares []claimedShare) error {
	what := fmt.Sprintf("note %d shares of links as claimed, the first of %s", len(shares), shares[0].page)
	return f.s.do(ctx, what, func(ctx context.Context) error {
		pages := make(map[followKey][]crawl.Share, len(shares))
		for _, s := range shares {
			number, err := f.s.jobs.number(s.under(ctx), s.job)
			if errors.Is(err, crawl.ErrDiscarded) {
				continue
			}
			if err != nil {
				return err
			}
			k := followKey{number, s.page.Key()}
			pages[k] = addShare(pages[k], s.Share)
		}
		var rows followKeys
		var epochs []int64
		var parts, places []int32
		for _, k := range slices.SortedFunc(maps.Keys(pages), followKey.compare) {
			for _, s := range pages[k] {
				rows.add(k)
				epochs, parts, places = append(epochs, int64(s.Epoch)), append(parts, int32(s.Of)), append(places, int32(s.Index))
			}
		}
		return f.change(ctx, claimedSQL, rows.jobs, rows.hosts, rows.hashes, time.Now(), epochs, parts, places)
	})
}

// addShare adds a share of a page to those of its newest split, each once.
func addShare(list []crawl.Share, s crawl.Share) []crawl.Share {
	if len(list) == 0 {
		return append(list, s)
	}
	switch newer := cmp.Or(cmp.Compare(s.Epoch, list[0].Epoch), cmp.Compare(s.Of, list[0].Of)); {
	case newer > 0:
		return append(list[:0], s)
	case newer < 0 || slices.Contains(list, s):
		return list
	}
	return append(list, s)
}

// Unfollowed implements crawl.Following. It also deletes stray rows: shares older than a day of pages that nobody
// expected, and pages complete for a day.
func (f *Following) Unfollowed(ctx context.Context, in []weburl.KeyRange, before time.Time,
	each func(crawl.Task) error) error {
	return f.s.inRanges(in, func(at *Store,
		in []weburl.KeyRange) error {
		return at.following.unfollowed(ctx, in, before, each)
	})
}

func (f *Following) unfollowed(ctx context.Context, in []weburl.KeyRange, before time.Time,
	each func(crawl.Task) error) error {
	err := f.s.do(ctx, "forget strayed shares of links", func(ctx context.Context) error {
		_, err := f.s.pool.Exec(ctx, strayedSQL, time.Now().Add(-strayed))
		return err
	})
	if err != nil {
		return err
	}
	return f.s.report(ctx, "pages whose links are missing", func(ctx context.Context, tx pgx.Tx) error {
		jobs, err := f.s.jobNames(ctx, tx, allJobsSQL)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, unfollowedSQL, before, edgesOf(in))
		if err != nil {
			return err
		}
		var number int32
		var url, stored []byte
		var kind int16
		_, err = pgx.ForEachRow(rows, []any{&number, &url, &kind, &stored}, func() error {
			job, known := jobs[number]
			if !known {
				return nil
			}
			u, err := weburl.ParseStored(url)
			if err != nil {
				return err
			}
			t, err := restoreTask(job, u, crawl.Kind(kind), stored)
			if err != nil {
				return err
			}
			return each(t)
		})
		return err
	})
}

// Missing calls each with the task of every page of a job that was fetched before a time and has unclaimed links.
func (f *Following) Missing(ctx context.Context, job crawl.JobID, before time.Time, each func(crawl.Task) error) error {
	return f.Unfollowed(ctx, weburl.AllKeys(), before, func(t crawl.Task) error {
		if t.Job != job {
			return nil
		}
		return each(t)
	})
}

// Forget implements crawl.Following.
func (f *Following) Forget(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return onServers(f.s, keys, sameKey, func(at *Store, part []weburl.Key, _ []int) error {
		return at.following.forget(ctx, job, part)
	})
}

func (f *Following) forget(ctx context.Context, job crawl.JobID, keys []weburl.Key) error {
	if len(keys) == 0 {
		return nil
	}
	return f.s.do(ctx, fmt.Sprintf("forget the links of %d pages, the first %s", len(keys), keys[0]),
		func(ctx context.Context) error {
			number, known, err := f.s.jobs.find(ctx, job)
			if err != nil || !known {
				return err
			}
			var columns followKeys
			for _, k := range slices.SortedFunc(slices.Values(keys),
				func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) }) {
				columns.add(followKey{number, k})
			}
			_, err = f.s.pool.Exec(ctx, forgetSQL, columns.jobs, columns.hosts, columns.hashes)
			return err
		})
}

// Waiting implements crawl.Following.
func (f *Following) Waiting(ctx context.Context, job crawl.JobID) (n int64, err error) {
	return f.s.sum(func(at *Store) (int64, error) { return at.following.waiting(ctx, job) })
}

func (f *Following) waiting(ctx context.Context, job crawl.JobID) (n int64, err error) {
	err = f.s.do(ctx, fmt.Sprintf("count the pages of job %q whose links are on their way", job),
		func(ctx context.Context) error {
			number, known, err := f.s.jobs.find(ctx, job)
			if err != nil || !known {
				return err
			}
			return f.s.pool.QueryRow(ctx, waitingSQL, number).Scan(&n)
		})
	return n, err
}
