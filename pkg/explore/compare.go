package explore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// comparisons remembers the counts of comparisons, until an index grows.
type comparisons struct {
	mu sync.Mutex
	by map[[2]crawl.JobID]*remembered
}

type remembered struct {
	at     time.Time
	states [2]Index
	counts Comparison
}

// maxRemembered bounds the comparisons in memory; one is used again for a while even if an index grows.
const (
	maxRemembered = 100
	compareFor    = 5 * time.Second
)

// Compare implements Reader.
func (x *Explorer) Compare(ctx context.Context, first, second crawl.JobID) (*Comparison, error) {
	a, b, err := x.pair(ctx, first, second)
	if err != nil {
		return nil, err
	}
	out := &Comparison{First: first, Second: second, Indexes: [2]*Index{a.Index(), b.Index()}}
	states := [2]Index{*out.Indexes[0], *out.Indexes[1]}
	for i := range states {
		states[i].Until = time.Time{}
	}
	x.comparisons.mu.Lock()
	defer x.comparisons.mu.Unlock()
	key := [2]crawl.JobID{first, second}
	if r := x.comparisons.by[key]; r != nil && (r.states == states || time.Since(r.at) < compareFor) {
		c := r.counts
		c.Indexes = out.Indexes
		return &c, nil
	}
	err = withBoth(ctx, a, b, func(db *sql.Conn) error { return out.count(ctx, db) })
	if err != nil {
		return nil, fmt.Errorf("compare executions %q and %q: %w", first, second, err)
	}
	if x.comparisons.by == nil || len(x.comparisons.by) > maxRemembered {
		x.comparisons.by = map[[2]crawl.JobID]*remembered{}
	}
	x.comparisons.by[key] = &remembered{time.Now(), states, *out}
	return out, nil
}

func (x *Explorer) pair(ctx context.Context, first, second crawl.JobID) (a, b *index, err error) {
	if a, err = x.index(ctx, first); err == nil {
		b, err = x.index(ctx, second)
	}
	return a, b, err
}

// withBoth opens the second index with the first attached as a.
func withBoth(ctx context.Context, a, b *index, use func(*sql.Conn) error) (err error) {
	conn, err := b.read.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS a", "file:"+a.name); err != nil {
		return errors.Join(err, conn.Close())
	}
	defer func() {
		_, e := conn.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE a")
		err = errors.Join(err, e, conn.Close())
	}()
	return use(conn)
}

// changeOf returns how record r of the second execution differs from record o of the first. The text of a copy is not
// kept, so for copies the simhashes decide.
const changeOf = `CASE WHEN r.digest = o.digest THEN 'same' WHEN r.text <> 0 AND o.text <> 0 AND r.copy = 0 AND o.copy = 0 THEN
  CASE WHEN r.text = o.text THEN 'touched' ELSE 'changed' END WHEN r.simhash = o.simhash THEN 'touched' ELSE 'changed' END`

func (c *Comparison) count(ctx context.Context, db *sql.Conn) error {
	var matched int64
	err := each(ctx, db, "SELECT "+changeOf+", count(*) FROM main.records r JOIN a.records o INDEXED BY records_compare ON o.hash = r.hash "+
		"GROUP BY 1", nil, func(scan func(...any) error) error {
		var change Change
		var n int64
		err := scan(&change, &n)
		switch matched += n; change {
		case Changed:
			c.Changed = n
		case Touched:
			c.Touched = n
		case Same:
			c.Same = n
		}
		return err
	})
	if err != nil {
		return err
	}
	err = db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM main.records), (SELECT count(*) FROM a.records)").Scan(&c.New, &c.Gone)
	c.New, c.Gone = c.New-matched, c.Gone-matched
	return err
}

// Changes implements Reader.
func (x *Explorer) Changes(ctx context.Context, first, second crawl.JobID, change Change, p Page) (*List[Compared], error) {
	switch change {
	case "", New, Gone, Changed, Touched, Same:
	default:
		return nil, fmt.Errorf("%w: change %q: want new, gone, changed, touched or same", ErrInvalid, plain(string(change), 40))
	}
	c, err := cursorFrom(p, listOf("changes", first, second, change))
	if err != nil {
		return nil, err
	}
	a, b, err := x.pair(ctx, first, second)
	if err != nil {
		return nil, err
	}
	q := &changeQuery{change: change, c: c, limit: limitOf(p), out: &List[Compared]{Items: []Compared{}, Index: older(a.Index(), b.Index())}}
	if p.Cursor == "" {
		q.c.ID = math.MinInt64
		if change == Gone {
			q.c.Phase = 1
		}
	}
	err = withBoth(ctx, a, b, func(db *sql.Conn) error { return q.run(ctx, db) })
	if err != nil {
		return nil, fmt.Errorf("compare executions %q and %q: %w", first, second, err)
	}
	return q.out, nil
}

// older returns the index that was updated less recently.
func older(a, b *Index) *Index {
	if a.Share < b.Share {
		return a
	}
	return b
}

// changeQuery lists what the second execution has (phase 0), then what the first alone has (phase 1), in the order of
// hashes.
type changeQuery struct {
	change Change
	c      cursor
	limit  int
	out    *List[Compared]
}

const briefOf = "%[1]s.url, %[1]s.title, %[1]s.status, %[1]s.bytes, %[1]s.words, %[1]s.at, %[1]s.digest, %[1]s.simhash"

func (q *changeQuery) run(ctx context.Context, db *sql.Conn) error {
	if q.c.Phase == 0 {
		more, err := q.second(ctx, db)
		if err != nil || more || q.change != "" && q.change != Gone {
			return err
		}
		q.c = cursor{Of: q.c.Of, Phase: 1, ID: math.MinInt64}
		if len(q.out.Items) >= q.limit {
			q.out.Next = q.c.encode()
			return nil
		}
	}
	want := q.limit - len(q.out.Items)
	return q.rows(ctx, db, "SELECT o.hash, 'gone', "+fmt.Sprintf(briefOf, "o")+" FROM (SELECT * FROM a.records INDEXED BY records_compare WHERE hash > ? "+
		"ORDER BY hash LIMIT ?) o WHERE NOT EXISTS(SELECT 1 FROM main.records r WHERE r.hash = o.hash) LIMIT ?", "a.records", want, false)
}

// second lists a page of what the second execution has; more: there is more of that.
func (q *changeQuery) second(ctx context.Context, db *sql.Conn) (more bool, err error) {
	cond := "o.hash IS NOT NULL AND " + changeOf + " = '" + string(q.change) + "'"
	join := "LEFT JOIN a.records o ON o.hash = r.hash"
	switch q.change {
	case "":
		cond = "(o.hash IS NULL OR " + changeOf + " <> 'same')"
	case New:
		cond = "o.hash IS NULL"
	}
	err = q.rows(ctx, db, "SELECT r.hash, CASE WHEN o.hash IS NULL THEN 'new' ELSE "+changeOf+" END, "+fmt.Sprintf(briefOf, "r")+", "+
		fmt.Sprintf(briefOf, "o")+" FROM (SELECT * FROM main.records INDEXED BY records_compare WHERE hash > ? ORDER BY hash LIMIT ?) r "+join+
		" WHERE "+cond+" LIMIT ?", "main.records", q.limit, true)
	return q.out.Next != "", err
}

// rows reads a page of one phase, out of so many rows at most.
func (q *changeQuery) rows(ctx context.Context, db *sql.Conn, query, table string, want int, both bool) error {
	n, last, from := 0, q.c.ID, q.c.ID
	err := each(ctx, db, query, []any{from, maxScan, want}, func(scan func(...any) error) error {
		c, hash, err := scanCompared(scan, both)
		n, last = n+1, hash
		q.out.Items = append(q.out.Items, c)
		return err
	})
	if err != nil {
		return err
	}
	if n == want {
		q.c.ID = last
		q.out.Next = q.c.encode()
		return nil
	}
	var scanned int64
	var end *int64
	err = db.QueryRowContext(ctx, "SELECT count(*), max(hash) FROM (SELECT hash FROM "+table+" WHERE hash > ? ORDER BY hash LIMIT ?)", from, maxScan).
		Scan(&scanned, &end)
	q.out.Scanned += scanned
	if q.out.Next = ""; scanned == maxScan && end != nil {
		q.c.ID = *end
		q.out.Next = q.c.encode()
	}
	return err
}

// side is what a comparison reads of a record.
type side struct {
	url, title    *string
	status, words *int
	bytes, at     *int64
	digest, sim   *int64
}

func (s *side) into() []any {
	return []any{&s.url, &s.title, &s.status, &s.bytes, &s.words, &s.at, &s.digest, &s.sim}
}

func (s *side) brief() *Brief {
	if s.url == nil {
		return nil
	}
	return &Brief{Title: *s.title, Status: *s.status, Bytes: *s.bytes, Words: *s.words, FetchedAt: time.UnixMilli(*s.at).UTC(),
		Digest: fmt.Sprintf("%016x", uint64(*s.digest))}
}

func scanCompared(scan func(...any) error, both bool) (c Compared, hash int64, err error) {
	var one, two side
	into := append([]any{&hash, &c.Change}, one.into()...)
	if both {
		into = append(into, two.into()...)
	}
	if err := scan(into...); err != nil {
		return c, 0, err
	}
	c.Key, c.URL = keyOf(*one.url), plain(*one.url, maxURL)
	if c.After, c.Before = one.brief(), two.brief(); !both {
		c.After, c.Before = nil, one.brief()
	}
	if c.Change == Changed && two.sim != nil {
		c.Share = math.Round(100*min(1, float64(bits.OnesCount64(uint64(*one.sim^*two.sim)))/32)) / 100
	}
	return c, hash, nil
}
