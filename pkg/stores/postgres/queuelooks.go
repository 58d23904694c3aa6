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

// QueueLooks carries the looks of audits to the frontiers, and what these hold back: see crawl.QueueLook.
type QueueLooks struct{ s *Store }

// QueueLooks returns the looks of audits.
func (s *Store) QueueLooks() *QueueLooks { return &QueueLooks{s} }

// lookLife is how long a look lasts whose audit does not ask any more: it was killed.
const lookLife = 30 * time.Second

var errLookGone = errors.New("the look is gone: nobody asked for its answers, or the server crashed")

const (
	askLookSQL   = `INSERT INTO queue_looks (job) VALUES ($1) RETURNING id`
	askedSQL     = `SELECT l.id, j.id, l.closing FROM queue_looks l JOIN jobs j ON j.number = l.job WHERE l.beat > now() - $1::interval ORDER BY l.id`
	beginLookSQL = `INSERT INTO queue_look_answers (look, node, step) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING`
	lookStepSQL  = `UPDATE queue_look_answers SET step = $3, unread = $4, fault = nullif($5, '') WHERE look = $1 AND node = $2`
	holdSQL      = `WITH held AS (INSERT INTO queue_look_held (look, host, hash, how) SELECT $1, a.host, a.hash, a.how
		FROM unnest($3::bigint[], $4::uuid[], $5::smallint[]) AS a (host, hash, how) RETURNING 1)
		UPDATE queue_look_answers SET rows = rows + (SELECT count(*) FROM held) WHERE look = $1 AND node = $2`
	// holdAtSQL is holdSQL on a server of the ledger, where nobody begins or answers.
	holdAtSQL = `WITH held AS (INSERT INTO queue_look_held (look, host, hash, how) SELECT $1, a.host, a.hash, a.how
		FROM unnest($3::bigint[], $4::uuid[], $5::smallint[]) AS a (host, hash, how) RETURNING 1)
		INSERT INTO queue_look_answers AS a (look, node, step, rows) SELECT $1, $2, 1, count(*) FROM held
		ON CONFLICT (look, node) DO UPDATE SET rows = a.rows + excluded.rows`
	answersSQL   = `WITH beat AS (UPDATE queue_looks SET beat = now() WHERE id = $1) SELECT node, step, unread, coalesce(fault, '') FROM queue_look_answers WHERE look = $1 ORDER BY node`
	closeLookSQL = `UPDATE queue_looks SET closing = true, beat = now() WHERE id = $1`
	openNowSQL   = `INSERT INTO queue_look_open (look, host, hash) SELECT $1, host, hash FROM urls WHERE job = $2 AND state = 1 AND url IS NOT NULL`
	heldRowsSQL  = `SELECT (SELECT count(*) FROM queue_look_open WHERE look = $1),
		(SELECT count(*) FROM queue_look_held WHERE look = $1) = (SELECT coalesce(sum(rows), 0) FROM queue_look_answers WHERE look = $1)`
	// What is not held is little, mostly.
	unheldSQL = `WITH held AS MATERIALIZED (SELECT host, hash, min(how) AS how FROM queue_look_held WHERE look = $1 GROUP BY host, hash),
		unheld AS MATERIALIZED (SELECT o.host, o.hash, coalesce(h.how, 3) AS how FROM queue_look_open o
			LEFT JOIN held h ON h.host = o.host AND h.hash = o.hash WHERE o.look = $1 AND coalesce(h.how, 3) > 0)
		SELECT u.host, u.hash, u.url, n.how FROM unheld n JOIN urls u ON u.job = $2 AND u.host = n.host AND u.hash = n.hash WHERE u.state = 1
		ORDER BY u.host, u.hash`
)

// Ask begins a look for the open URLs of a job. What looks of audits that were killed left behind goes first.
func (q *QueueLooks) Ask(ctx context.Context, job crawl.JobID) (id int64, err error) {
	err = q.s.do(ctx, fmt.Sprintf("look for the open URLs of job %q", job), func(ctx context.Context) error {
		if err := q.deleteOld(ctx); err != nil {
			return err
		}
		number, err := q.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		return q.s.pool.QueryRow(ctx, askLookSQL, number).Scan(&id)
	})
	return id, err
}

// Asked returns the looks that audits wait for, the oldest first.
func (q *QueueLooks) Asked(ctx context.Context) (all []crawl.QueueLook, err error) {
	err = q.s.do(ctx, "looks of audits", func(ctx context.Context) error {
		rows, err := q.s.pool.Query(ctx, askedSQL, lookLife)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[crawl.QueueLook])
		return err
	})
	return all, err
}

// Begin notes that a node's frontier begins with a look; false: one of the node did before.
func (q *QueueLooks) Begin(ctx context.Context, id int64, node string) (first bool, err error) {
	err = q.s.do(ctx, "begin a look", func(ctx context.Context) error {
		tag, err := q.s.pool.Exec(ctx, beginLookSQL, id, node)
		first = tag.RowsAffected() > 0
		return err
	})
	return first, err
}

// Hold notes URLs that a node's frontier holds.
func (q *QueueLooks) Hold(ctx context.Context, id int64, node string, held ...crawl.HeldURL) error {
	if len(held) == 0 {
		return nil
	}
	return onServers(q.s, held, func(h *crawl.HeldURL) weburl.Key { return h.Key },
		func(at *Store, part []crawl.HeldURL, _ []int) error {
			return (&QueueLooks{at}).hold(ctx, id, node, part)
		})
}

func (q *QueueLooks) hold(ctx context.Context, id int64, node string, held []crawl.HeldURL) error {
	hosts, how := make([]int64, len(held)), make([]int16, len(held))
	hashes := make(pgtype.FlatArray[pgtype.UUID], len(held))
	for i, h := range held {
		hosts[i], hashes[i], how[i] = hostOf(h.Key), hashOf(h.Key), int16(h.How)
	}
	return q.s.do(ctx, fmt.Sprintf("note %d URLs that the frontier holds", len(held)), func(ctx context.Context) error {
		sql := holdSQL
		if q.s.main != q.s {
			sql = holdAtSQL
		}
		_, err := q.s.pool.Exec(ctx, sql, id, node, hosts, hashes, how)
		return err
	})
}

// Answer notes how far a node's frontier is.
func (q *QueueLooks) Answer(ctx context.Context, id int64, a crawl.LookAnswer) error {
	return q.s.do(ctx, "answer a look", func(ctx context.Context) error {
		_, err := q.s.pool.Exec(ctx, lookStepSQL, id, a.Node, int16(a.Step), a.Unread, clean(a.Fault, maxReason))
		return err
	})
}

// Answers returns how far the frontiers are, and keeps the look alive.
func (q *QueueLooks) Answers(ctx context.Context, id int64) (all []crawl.LookAnswer, err error) {
	err = q.s.do(ctx, "answers to a look", func(ctx context.Context) error {
		rows, err := q.s.pool.Query(ctx, answersSQL, id)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[crawl.LookAnswer])
		return err
	})
	return all, err
}

// NoteOpen notes which URLs of the job are open now, and returns their number.
func (q *QueueLooks) NoteOpen(ctx context.Context, id int64, job crawl.JobID) (n int64, err error) {
	number, known, err := q.s.jobs.find(ctx, job)
	if err != nil || !known {
		return 0, err
	}
	what := fmt.Sprintf("note the open URLs of job %q", job)
	return q.s.sum(func(at *Store) (int64, error) { return (&QueueLooks{at}).noteOpen(ctx, what, id, number) })
}

func (q *QueueLooks) noteOpen(ctx context.Context, what string, id int64, number int32) (n int64, err error) {
	err = pgx.BeginFunc(ctx, q.s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, reportSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, openNowSQL, id, number)
		n = tag.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fault(what, err)
	}
	return n, nil
}

// Close asks the frontiers to end a look.
func (q *QueueLooks) Close(ctx context.Context, id int64) error {
	return q.s.do(ctx, "close a look", func(ctx context.Context) error {
		_, err := q.s.pool.Exec(ctx, closeLookSQL, id)
		return err
	})
}

// Unheld hands the URLs to each that were open when noted, are open now, and are not queued at any frontier. noted is
// what NoteOpen returned.
func (q *QueueLooks) Unheld(ctx context.Context, id int64, job crawl.JobID, noted int64,
	each func(weburl.Key, weburl.URL, crawl.Holding) error) error {
	number, known, err := q.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	what := fmt.Sprintf("open URLs of job %q that no frontier holds", job)
	notedAt := make([]int64, len(q.s.ledger)) // what each server lost in a crash is missing in the sum
	err = q.s.together(func(i int, at *Store) error {
		return at.do(ctx, what, func(ctx context.Context) error {
			return at.pool.QueryRow(ctx, heldRowsSQL,
				id).Scan(&notedAt[i], nil)
		})
	})
	if err != nil {
		return err
	}
	for _, n := range notedAt {
		noted -= n
	}
	if noted != 0 {
		return fault(what, errLookGone)
	}
	for i, at := range q.s.ledger {
		if err := (&QueueLooks{at}).unheld(ctx, what, id, number, notedAt[i], each); err != nil {
			return err
		}
	}
	return nil
}

func (q *QueueLooks) unheld(ctx context.Context, what string, id int64, number int32, noted int64,
	each func(weburl.Key, weburl.URL, crawl.Holding) error) error {
	return q.s.report(ctx, what, func(ctx context.Context, tx pgx.Tx) error {
		var open int64
		var whole bool
		if err := tx.QueryRow(ctx, heldRowsSQL, id).Scan(&open, &whole); err != nil {
			return err
		}
		if open != noted || !whole {
			return errLookGone
		}
		rows, err := tx.Query(ctx, unheldSQL, id, number)
		if err != nil {
			return err
		}
		var host int64
		var hash pgtype.UUID
		var url string
		var how int16
		_, err = pgx.ForEachRow(rows, []any{&host, &hash, &url, &how}, func() error {
			var u weburl.URL
			if err := u.UnmarshalText([]byte(url)); err != nil {
				return err
			}
			return each(keyOf(host, hash), u, crawl.Holding(how))
		})
		return err
	})
}

// End forgets a look.
func (q *QueueLooks) End(ctx context.Context, id int64) error {
	return q.s.do(ctx, "end a look", func(ctx context.Context) error { return q.delete(ctx, id) })
}

func (q *QueueLooks) deleteOld(ctx context.Context) error {
	rows, err := q.s.pool.Query(ctx, `SELECT id FROM queue_looks WHERE beat < now() - 2 * $1::interval`, lookLife)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range ids {
		if err == nil {
			err = q.delete(ctx, id)
		}
	}
	return err
}

// delete deletes a look, on the main server last: until then it is known that there is something to delete.
func (q *QueueLooks) delete(ctx context.Context, id int64) error {
	err := q.s.inTurn(func(at *Store) error {
		if at == q.s {
			return nil
		}
		return (&QueueLooks{at}).deleteAt(ctx, id)
	})
	if err != nil {
		return err
	}
	return q.deleteAt(ctx, id)
}

func (q *QueueLooks) deleteAt(ctx context.Context, id int64) error {
	b := &pgx.Batch{}
	for _, table := range []string{"queue_look_open", "queue_look_held", "queue_look_answers"} {
		b.Queue(`DELETE FROM `+table+` WHERE look = $1`, id)
	}
	b.Queue(`DELETE FROM queue_looks WHERE id = $1`, id)
	return q.s.pool.SendBatch(ctx, b).Close()
}
